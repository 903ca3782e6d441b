"""Fully connected sigmoid layers with dropout (Srivastava et al. 2014), and a linear output."""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from punc.base.errors import check_probability
from punc.layers.dropout import drop


class FullyConnected(nn.Module):
    """h(l) = σ(W(l) h(l−1) + b(l)) for each hidden layer, then W h + b.

    sizes     of the input, the hidden layers and the output
    dropout   rate at which hidden units are dropped in training; the others are scaled by 1 / (1 − dropout)
    shared    drop the same units for all samples of a batch. Their products are then not computed, and an epoch takes
              nearly (1 − dropout)² of the time (Graham, Reizenstein & Robinson 2015, "Efficient batchwise dropout
              training using submatrices")
    centred   hidden layers pass on σ − ½. The function is the same, as the next bias can absorb the ½, but it learns
              differently (LeCun et al. 1998, "Efficient BackProp", section 4.4), and a dropped unit takes no ½ with it

    Weights start uniform with the variance of Glorot & Bengio (2010), 4 times as wide between sigmoids, as the slope of
    a sigmoid is ¼. A bias above sigmoids that are not centred starts at the value that cancels their mean of ½;
    otherwise that layer would start saturated.
    """

    def __init__(self, sizes: Sequence[int], dropout: float = 0.0, shared: bool = True, centred: bool = False):
        super().__init__()
        check_probability(dropout=dropout)
        self.dropout, self.shared, self.middle = dropout, shared, 0.5 * centred
        layers = [nn.Linear(*pair) for pair in pairwise(sizes)]
        self.layers = nn.ModuleList(layers)
        for number, layer in enumerate(layers):
            nn.init.xavier_uniform_(layer.weight, 4.0 if 0 < number < len(layers) - 1 else 1.0)
            with torch.no_grad():
                mean = 0.5 - self.middle if number else 0.0
                layer.bias.copy_(-mean * layer.weight.sum(1))

    def forward(self, inputs: Tensor) -> Tensor:
        """(…, sizes[0]) → (…, sizes[-1])"""
        hidden, output = self._linear_layers()
        if self.training and self.dropout and self.shared:
            return self._shared(inputs)
        for layer in hidden:
            inputs = layer(inputs).sigmoid() - self.middle
            inputs = drop(inputs, self.dropout) if self.training else inputs
        return output(inputs)

    def _linear_layers(self) -> tuple[list[nn.Linear], nn.Linear]:
        *hidden, output = (layer for layer in self.layers if isinstance(layer, nn.Linear))
        return hidden, output

    def _shared(self, inputs: Tensor) -> Tensor:
        """The same without the rows and columns of dropped units in the weights."""
        hidden, output = self._linear_layers()
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
        """The indices of the units of a layer that this batch keeps, sorted."""
        count = max(1, round((1 - self.dropout) * size))
        if count > 256:
            count -= count % 16  # products of other sizes are a third slower
        return torch.randperm(size, device=next(self.parameters()).device)[:count].sort().values
