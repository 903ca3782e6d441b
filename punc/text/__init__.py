"""Text and its marks: formats to read, tokens and labels, and text that is written again.

    format        Format, PrepareOptions, format_names, load_format: the formats in `formats/`, found by name
    text_format   TextFormat: formats of punctuated text
    file_parts    file_parts, decode: files in parts, and their bytes as text
    passages      Passage, Memo: stretches of text with labels
    cutter        Cutter, utterance_id, sorted_streams: passages to utterances
    prose_reader  TextReader, Clitics, written: prose to words and labels, and back
    prose_writer  ProseWriter: prose for people
    characters    CharacterReader, class_of: text without blanks between words
    casing        learn, read_casing, write_casing: words with capitals after the first letter
"""
