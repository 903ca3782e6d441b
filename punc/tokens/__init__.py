"""Tokens: tokenizers, vocabularies, word vectors, stores of token ids, and batches of them.

Public names: `tokenizer.Tokenizer`, `tokenizer.read_tokenizer`, `tokenizer.tokenizer_class`, `vocabulary.Vocabulary`,
`store.make_store`, `store.Store`, `store_set.StoreSet`, `batches.Batch`, `word_vectors.read_word_vectors`.
"""
