"""The tokenizers, one file each: `--token-type NAME` is the class `<Name>Tokenizer` of NAME.py.

A name that Python reserves has an underscore after it in the file's name: class_.py.
"""
