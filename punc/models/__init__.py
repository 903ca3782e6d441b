"""The model architectures. Each has a module or package with its name; `base` contains their common interface."""
