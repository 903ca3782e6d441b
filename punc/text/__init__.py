"""Text and its marks: formats to read, tokens and labels, and text that is written again.

What other packages and programs use:

    abbreviations  Abbreviations, shipped, write_abbreviations, BEGINS, LETTERS, ORDINAL, STARTER: dots that are no mark
    examples      found: what was found in a text, with examples
    not_speech    parse_kinds, ENTITIES, KEPT, KINDS, WORDS: what is not said, counted and taken out
    format        Format, PrepareOptions, format_help, format_names, load_format: the formats in formats/, found by
                    name
    file_parts    decode, file_parts, FilePart: files in parts, and their bytes as text
    prepared_parts  join_prepared: what several jobs prepared, joined
    passages      Memo: stretches of text with labels
    cutter        file_name, sorted_streams: passages to utterances
    punkt         count_contexts, count_types, words_by_kind, Contexts, Types: abbreviations of a corpus
    splits        split_texts, split_training, SHARES, TREE_SHARES: which text is in which set
    survey        cut_text, read_speakers, survey: words and speakers of texts, and long ones cut
    repeated      digests, overlap, remove_sentences: sentences that stand in two sets
    prose_reader  Clitics, TextReader, legal, written, PLAIN, TOKEN_SHAPE, WORD: prose to words and labels, and back
    prose_writer  ProseWriter, QUOTE: prose for people
    characters    CharacterReader, Split, class_of, CLASSES: text without blanks between words
    casing        Casing, learn, read_casing, write_casing: words with capitals after the first letter
"""
