"""Text and its marks: formats to read, tokens and labels, and text that is written again.

What other packages and programs use:

    format        Format, PrepareOptions, format_help, format_names, load_format: the formats in formats/, found by
                    name
    file_parts    decode: files in parts, and their bytes as text
    prepared_parts  join_prepared: what several jobs prepared, joined
    passages      Memo: stretches of text with labels
    cutter        file_name, sorted_streams: passages to utterances
    speakers      CHANGES: labels of speakers in a text, and turns
    prose_reader  Clitics, TextReader, legal, written, PLAIN, TOKEN_SHAPE, WORD: prose to words and labels, and back
    prose_writer  ProseWriter, QUOTE: prose for people
    characters    CharacterReader, Split, class_of, CLASSES: text without blanks between words
    casing        Casing, learn, read_casing, write_casing: words with capitals after the first letter
"""
