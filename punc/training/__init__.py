"""Training: the loop, its options, batches, optimiser and checkpoints, and the evaluation of a model.

What other packages and programs use:

    train       train, train_epoch: the training loop
    options     TrainingOptions: the options of training
    optim       Optimizer: PyTorch's optimisers for dense and sparse weights
"""
