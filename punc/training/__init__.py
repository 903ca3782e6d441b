"""Training: epochs, their options, batches, optimiser, checkpoints and ranks, and the evaluation of a model."""
