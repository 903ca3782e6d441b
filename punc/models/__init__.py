"""One file for each architecture; the file's name is the model's name."""
