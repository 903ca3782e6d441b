"""Simulates a recogniser's errors in reference text (ASR noise)."""
