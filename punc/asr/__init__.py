"""Files of recognisers: words with their times as places in a file, and how a word is written with its label.

What other packages and programs use:

    document   Document, write_document: a file's bytes and words, and the file with other words
    read       read_document: the formats in formats/, found by a file's content
    tokens     Token, TokenReader, closes, is_hidden, is_plain, opens, MARK, MOST_TAGGED, NUMBER, SILENCE, SYMBOL, TAG,
               URL, WORD: what a word is: core, marks, number, tag
    written    MarkedWords, Words, of_texts, take_apart: words as they are written with their labels
"""
