"""What every other package uses. Nothing here knows of punctuation."""
