"""punc restores punctuation (and capitals) in speech transcripts."""

__version__ = "0.1.0"
