"""Kaldi data directories: tables, archives, label sets, and checks that the files fit together."""
