"""Utilities that all other packages use: errors, files, options, locks, jobs. None of them deals with punctuation."""
