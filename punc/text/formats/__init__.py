"""The formats that `punc prepare --format NAME` reads: one file each, named NAME.py, with a class `Format`.

`punc.text.format` says what such a class has. Files of punctuated text derive theirs from `TextFormat`
(`punc.text.format.TextFormat`), which reads them in parts and in several processes.
"""
