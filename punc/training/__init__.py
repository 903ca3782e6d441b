"""Training: the loop, its options, batches, optimiser and checkpoints, and the evaluation of a model.

Public names: `train.train`, `options.TrainingOptions`, `evaluate.evaluate`, `optim.Optimizer`.
"""
