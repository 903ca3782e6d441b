"""Tokens: tokenizers, vocabularies, word vectors, stores of token ids, and batches of them."""
