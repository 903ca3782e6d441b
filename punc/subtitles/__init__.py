"""Cuts words with labels and times into subtitle cues and paragraphs of text."""
