"""The tokenizers. `--token-type NAME` stands for the class `<Name>Tokenizer` in NAME.py. If NAME is a Python keyword,
the file is NAME_.py."""
