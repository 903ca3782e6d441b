"""Trains models: options, batches, the optimiser, epochs, checkpoints, several processes (ranks), and evaluation."""
