"""The model architectures: one module or package each, with the name of the model. `base` has their common
interface."""
