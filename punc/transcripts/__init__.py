"""Reads and writes the transcripts of recognisers, aligners and captioners: one reader and one writer for each
format."""
