"""Training: epochs, their options, batches, optimiser, checkpoints and ranks, and the evaluation of a model.

What other packages and programs use:

    train       train: a model on a store
    epoch       train_epoch: one epoch of it
    options     TrainingOptions: the options of training
    teacher     Teacher: the soft targets of a training set, and the loss of a student
    losses      LabelLoss: the loss of the labels of a batch
    ranks       Ranks, find_ranks: the processes that train one model together
    optim       Optimizer: PyTorch's optimisers for dense and sparse weights
"""
