"""A convolution with filters of several widths over the vectors of a text (Kim et al. 2015, section 2.2, equation (5)).

    f(t) = tanh(F · [e(t − ⌊(w−1)/2⌋) … e(t + ⌈(w−1)/2⌉)] + b)    for each filter F of each width w

Kim et al. have min(200, 50 w) filters of width w, 1,100 of widths 1 to 7. Gale & Parthasarathy 2017 have 1,650 of
widths 1 to 7 and do not say how many of each. Half as many again of each width gives 1,650: min(300, 75 w).
"""

import torch
from torch import Tensor, nn

from punc.base.errors import check_at_least
from punc.layers.neighbours import concatenate_neighbours


class Filters(nn.Module):
    """min(max_filters, filters · w) filters of each width w = 1 … `widths`; `size` in all.

    before, ahead   how many vectors before and after a step the widest filters read

    There is no padding: the output has before + ahead steps less than the input. Weights are (filters, w, dimensions).
    """

    def __init__(self, dimensions: int, widths: int, filters: int, max_filters: int):
        super().__init__()
        check_at_least(1, widths=widths, filters=filters, max_filters=max_filters)
        self.before, self.ahead = (widths - 1) // 2, widths // 2
        counts = [min(max_filters, filters * width) for width in range(1, widths + 1)]
        self.size = sum(counts)
        self.weights = nn.ParameterList(nn.Parameter(torch.empty(count, width, dimensions))
                                        for width, count in enumerate(counts, 1))
        self.bias = nn.Parameter(torch.zeros(self.size))
        for weight in self.weights:
            nn.init.xavier_uniform_(weight.data.flatten(1), nn.init.calculate_gain("tanh"))

    def forward(self, vectors: Tensor) -> Tensor:
        """(B, T + widths − 1, dimensions) → (B, T, size)"""
        # Padded with zeros, all filters have the same width: one product is faster than one for each width.
        width = len(self.weights)
        wide = torch.cat([nn.functional.pad(weight, (0, 0, self.before - (w - 1) // 2, self.ahead - w // 2))
                          for w, weight in enumerate(self.weights, 1)]).flatten(1)
        return nn.functional.linear(concatenate_neighbours(vectors, width), wide, self.bias).tanh()
