"""Training: the one loop, its optimisers and its checkpoints."""
