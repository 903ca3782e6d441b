"""Reads and writes the transcripts of recognisers, aligners and captioners, in many formats."""
