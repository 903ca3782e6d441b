"""Aligns words, and computes the pause in each slot from the times of words."""
