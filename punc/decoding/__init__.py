"""Computes posteriors and labels for data directories and ASR output. Exports and runs packed models."""
