"""Counts slots and word errors, computes metrics, intervals and paired tests, and projects labels onto other words."""
