"""Scores: counts, metrics, intervals and paired tests; labels projected onto other words."""
