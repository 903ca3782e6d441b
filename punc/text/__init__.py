"""Punctuated text: readers of its formats, and how words with labels are written."""
