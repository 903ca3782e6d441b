"""Fully connected sigmoid layers with dropout (Srivastava et al. 2014), and a linear output."""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from punc.base.errors import InputError


class FullyConnected(nn.Module):
    """h(l) = σ(W(l) h(l−1) + b(l)) for each hidden layer, then W h + b.

    sizes     of input, hidden layers and output
    dropout   part of the hidden units that is left out in training; the others count for 1 / (1 − dropout) as much
    shared    whether all samples of a batch leave out the same units; then their products are not made at all, and an
              epoch takes nearly (1 − dropout)² of its time (Graham, Reizenstein & Robinson 2015, "Efficient batchwise
              dropout training using submatrices")
    centred   whether layers hand on σ − ½: what they can compute is the same, as the ½ could be part of the next bias,
              but they learn otherwise (LeCun et al. 1998, "Efficient BackProp", section 4.4), and a unit that is left
              out takes no ½ with it

    Weights begin uniform with Glorot & Bengio's (2010) variance, those between sigmoids 4 times as wide, as a sigmoid's
    slope is ¼. Biases above sigmoids that are not centred begin at what takes their mean of ½ out: else that layer
    would begin saturated.
    """

    def __init__(self, sizes: Sequence[int], dropout: float = 0.0, shared: bool = True, centred: bool = False):
        super().__init__()
        if not 0 <= dropout < 1:
            raise InputError(f"--dropout={dropout}", "it is at least 0 and less than 1")
        self.dropout, self.shared, self.middle = dropout, shared, 0.5 * centred
        self.layers = nn.ModuleList(nn.Linear(*pair) for pair in pairwise(sizes))
        for number, layer in enumerate(self.layers):
            nn.init.xavier_uniform_(layer.weight, 4.0 if 0 < number < len(self.layers) - 1 else 1.0)
            with torch.no_grad():
                mean = 0.5 - self.middle if number else 0.0
                layer.bias.copy_(-mean * layer.weight.sum(1))

    def forward(self, inputs: Tensor) -> Tensor:
        """(…, sizes[0]) → (…, sizes[-1])"""
        *hidden, output = self.layers
        if self.training and self.dropout and self.shared:
            return self._shared(inputs)
        for layer in hidden:
            inputs = nn.functional.dropout(layer(inputs).sigmoid() - self.middle, self.dropout, self.training)
        return output(inputs)

    def _shared(self, inputs: Tensor) -> Tensor:
        """The same with the rows and columns of units that are left out taken from the weights."""
        *hidden, output = self.layers
        kept = None
        for layer in hidden:
            units = self._kept(layer.out_features)
            weight = layer.weight.index_select(0, units)
            if kept is not None:
                weight = weight.index_select(1, kept)
            inputs = nn.functional.linear(inputs, weight, layer.bias.index_select(0, units)).sigmoid()
            inputs = (inputs - self.middle) * (layer.out_features / len(units))
            kept = units
        weight = output.weight if kept is None else output.weight.index_select(1, kept)
        return nn.functional.linear(inputs, weight, output.bias)

    def _kept(self, size: int) -> Tensor:
        """The units of a layer that this batch does not leave out, in order."""
        count = max(1, round((1 - self.dropout) * size))
        if count > 256:
            count -= count % 16  # products of odd sizes are a third slower
        return torch.randperm(size)[:count].sort().values
