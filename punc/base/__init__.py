"""What all other packages use. Nothing here depends on punctuation."""
