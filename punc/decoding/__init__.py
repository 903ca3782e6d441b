"""Decoding: posteriors and labels of data directories and of recognisers' files; packed models and their export."""
