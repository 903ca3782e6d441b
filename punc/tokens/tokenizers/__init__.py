"""The tokenizers, one module each: `--token-type NAME` is the class `<Name>Tokenizer` in NAME.py.

If NAME is a Python keyword, the module's name ends with an underscore: class_.py.
"""
