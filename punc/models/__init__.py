"""One file or package for each architecture; its name is the model's name. `base` is the contract of all models."""
