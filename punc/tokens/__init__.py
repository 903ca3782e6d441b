"""Tokenizers, vocabularies, word vectors, stores of token ids, soft targets for stores, and chunks of streams."""
