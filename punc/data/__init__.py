"""Data directories as Kaldi has them: tables, archives, label sets, and the check that they fit together."""
