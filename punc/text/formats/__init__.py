"""The formats that `punc prepare --format NAME` reads, each in a module NAME.py (see `punc.text.format`)."""
