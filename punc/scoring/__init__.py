"""Scores: metrics, intervals and paired tests, result pages and plots; labels projected onto other words."""
