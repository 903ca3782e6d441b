"""Decoding: computes posteriors and labels for data directories and ASR output; exports and runs packed models."""
