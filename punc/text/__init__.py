"""Reads text in several formats, splits it into words with labels, and writes words with labels as text."""
