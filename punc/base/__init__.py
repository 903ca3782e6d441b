"""Utilities that all other packages use. Nothing here has to do with punctuation."""
