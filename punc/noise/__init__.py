"""ASR noise: simulated errors of a recogniser in reference text."""
