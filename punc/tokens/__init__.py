"""Tokenizers, vocabularies, word vectors, and stores of token ids, with soft targets and chunks of them."""
