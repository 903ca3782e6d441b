"""Tokens: tokenizers, vocabularies, word vectors, stores of token ids, and batches of them.

What other packages and programs use:

    tokenizer     CLITICS, TOKENIZER_FILES, Encoding, Tokenizer, class_of, encode_streams, read_tokenizer, token_types,
                    tokenizer_class: the tokenizers in tokenizers/, found by name
    vocabulary    Vocabulary, END, SPECIALS, UNK: tokens and their numbers
    lookup_tokenizer  LookupTokenizer: what tokenizers share that look words up
    store         Store, StorePlan, crc32_of, make_store, plan_store: data directories as flat arrays of token ids
    store_parts   join_counts, join_store, read_counted, write_store_share: stores that jobs make
    store_set     StoreSet: one data directory in a store
    soft_targets  make_targets, read_targets, targets_checksum: the posteriors of a teacher for a set of a store
    chunks        Chunks, by_length, cut, gather_arrays, padding: streams in chunks
    slot_inputs   with_turns: pauses and turns together, for models that read both
    batches       Batch, gather, stateful, stateful_rows, stateful_width: streams as batches, for training and decoding
    word_vectors  read_word_vectors: word vectors of a text file
"""
