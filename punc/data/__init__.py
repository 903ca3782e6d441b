"""Data directories as in Kaldi: tables, archives, label sets, and the checks that they fit together."""
