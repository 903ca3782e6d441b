"""Reads, writes and checks Kaldi data directories and label sets."""
