"""Convolutions over the vectors of neighbouring tokens, and highway layers.

Filters of several widths (Kim et al. 2015, "Character-Aware Neural Language Models", section 2.2, equation (5)):

    f(t) = tanh(F · [e(t − ⌊(w−1)/2⌋) … e(t + ⌈(w−1)/2⌉)] + b)    for each filter F of each width w

Kim et al. use min(200, 50 w) filters of width w. Gale & Parthasarathy 2017 use 1,650 filters of widths 1 to 7, but do
not say how many have each width. Here, `filters` = 75 gives min(300, 75 w) filters of width w, and 1,650 in all.

Highway layers (Srivastava, Greff & Schmidhuber 2015, "Training Very Deep Networks", equation (3)):

    y = H(x) · T(x) + x · (1 − T(x)),    H(x) = relu(W_H x + b_H),  T(x) = σ(W_T x + b_T)

The initial bias b_T is −2, so that at first the layer passes on most of x (Srivastava et al., section 2.2). As in
Kim et al. 2015, equation (8), H uses a relu, and the layer follows a convolution.
"""

import torch
from torch import Tensor, nn

from punc.base.errors import check_at_least
from punc.tokens.vocabulary import END

GATE_BIAS = -2.0


def concatenate_neighbours(vectors: Tensor, size: int) -> Tensor:
    """Concatenate the vectors of each step and the next size − 1 steps: (B, T + size − 1, D) → (B, T, size · D)."""
    return vectors.unfold(1, size, 1).transpose(2, 3).flatten(2)


def outside(line: Tensor) -> Tensor:
    """Mark which of the last T tokens of `line` (B, T + 1) are outside a text, bool (B, T): each END that directly
    follows an END."""
    ends = line == END
    return ends[:, 1:] & ends[:, :-1]


class Filters(nn.Module):
    """Convolutional filters of the widths 1 … `widths`. There are min(4, w) · `filters` filters of width w, and `size`
    filters in all. At each step, the widest filters read `before` vectors before the step and `ahead` vectors after
    it."""

    def __init__(self, dimensions: int, widths: int, filters: int):
        super().__init__()
        check_at_least(1, filters=filters)
        self.before, self.ahead = (widths - 1) // 2, widths // 2
        counts = [filters * min(4, width) for width in range(1, widths + 1)]
        self.size = sum(counts)
        self.weights = nn.ParameterList(nn.Parameter(torch.empty(count, width, dimensions))
                                        for width, count in enumerate(counts, 1))
        self.bias = nn.Parameter(torch.zeros(self.size))
        for weight in self.weights:
            nn.init.xavier_uniform_(weight.data.flatten(1), nn.init.calculate_gain("tanh"))

    def forward(self, vectors: Tensor) -> Tensor:
        """Map (B, T + widths − 1, dimensions) to (B, T, size)."""
        # All filters are padded with zeros to the same width, because a single product is faster than one per width.
        width = len(self.weights)
        wide = torch.cat([nn.functional.pad(weight, (0, 0, self.before - (w - 1) // 2, self.ahead - w // 2))
                          for w, weight in enumerate(self.weights, 1)]).flatten(1)
        return nn.functional.linear(concatenate_neighbours(vectors, width), wide, self.bias).tanh()


class Highway(nn.Module):
    """A highway layer with `size` inputs and outputs. `both` holds W_H and W_T, so that one matrix product is
    enough."""

    def __init__(self, size: int):
        super().__init__()
        self.both = nn.Linear(size, 2 * size)
        with torch.no_grad():
            self.both.bias[size:] = GATE_BIAS

    def forward(self, inputs: Tensor) -> Tensor:
        """Map (…, size) to (…, size)."""
        transformed, gate = self.both(inputs).chunk(2, dim=-1)
        # x + T · (H − x) is equation (3) with one multiplication fewer.
        return torch.lerp(inputs, transformed.relu().type_as(inputs), gate.sigmoid().type_as(inputs))
