"""Cues of subtitles and paragraphs of text, cut from words with labels and times."""
