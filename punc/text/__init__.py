"""Reads text in several formats, converts it to words with labels, and writes words with labels as text."""
