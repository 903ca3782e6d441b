"""The architectures: one file or package each, with the name of the model. `base` is their common interface."""
