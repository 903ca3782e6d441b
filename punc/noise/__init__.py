"""ASR noise: simulates a recogniser's errors in reference text."""
