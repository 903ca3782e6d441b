"""Transcripts as recognisers, aligners and people who caption write them: one reader and one writer a format."""
