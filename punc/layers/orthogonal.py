"""Initial weights of LSTM layers that let a gradient through many steps and layers, as Keras has them.

    U of each gate   orthogonal (Saxe et al. 2014)
    W of each gate   uniform in ±√(6 / (inputs + units)) (Glorot & Bengio 2010)
    biases           1 of the forget gate (Jozefowicz et al. 2015), 0 of the others

PyTorch's are uniform in ±1/√units, so three layers hardly pass anything on at first. Where the loss is rare, as in
texts of characters with a label for each word, a model then takes thousands of updates to learn more than where a text
ends.
"""

import torch
from torch import nn

from punc.base.errors import InputError

FORGET = 1  # PyTorch's gates: input, forget, cell, output


@torch.no_grad()
def make_orthogonal(net: nn.Module) -> None:
    """Set the initial weights of PyTorch's LSTM layers of a model. Raises InputError if it has none."""
    layers = [module for module in net.modules() if isinstance(module, nn.LSTM)]
    if not layers:
        raise InputError("--lstm-weights=orthogonal, but this model has none of PyTorch's LSTM layers", "leave it out")
    for layer in layers:
        for name, weights in layer.named_parameters():
            gates = weights.chunk(4)
            if name.startswith("bias"):
                weights.zero_()
                gates[FORGET].fill_(float(name.startswith("bias_ih")))
                continue
            for gate in gates:
                (nn.init.orthogonal_ if name.startswith("weight_hh") else nn.init.xavier_uniform_)(gate)
