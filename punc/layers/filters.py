"""A convolution with kernels of several widths over the vectors of a text (Kim et al. 2015, section 2.2, equation (5)).

    f(t) = tanh(K · [e(t − ⌊(w−1)/2⌋) … e(t + ⌈(w−1)/2⌉)] + b)    for each kernel K of each width w

Kim et al. have as many kernels of width w as min(200, 50 w), 1,100 of widths 1 to 7. Gale & Parthasarathy 2017 have
1,650 of widths 1 to 7 and do not say how many of each; half as many again of each are 1,650: min(300, 75 w).
"""

import torch
from torch import Tensor, nn

from punc.base.errors import InputError
from punc.layers.context import end_to_end


class Filters(nn.Module):
    """min(max_filters, kernels · w) kernels of each width w of 1 … `widths`; `size` in all.

    before, ahead   how many vectors before a step, and after it, the widest reads

    Nothing is padded: it gives before + ahead steps less than it gets. Weights are (kernels, w, dimensions).
    """

    def __init__(self, dimensions: int, widths: int, filters: int, max_filters: int):
        super().__init__()
        for option, value in (("widths", widths), ("filters", filters), ("max-filters", max_filters)):
            if value < 1:
                raise InputError(f"--{option}={value}", "it is 1 or more")
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
        # A narrow kernel is a wide one with zeros: one product of all of them is quicker than one for each width.
        width = len(self.weights)
        wide = torch.cat([nn.functional.pad(weight, (0, 0, self.before - (w - 1) // 2, self.ahead - w // 2))
                          for w, weight in enumerate(self.weights, 1)]).flatten(1)
        return nn.functional.linear(end_to_end(vectors, width), wide, self.bias).tanh()
