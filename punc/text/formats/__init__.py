"""The formats that `punc prepare --format NAME` reads: one file each, NAME.py, as `punc.text.format` says."""
