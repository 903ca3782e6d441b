"""Tokenizers, stores of token ids, and other data that models read."""
