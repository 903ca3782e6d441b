"""ASR noise: errors as a recogniser makes them, laid over text that people wrote down."""
