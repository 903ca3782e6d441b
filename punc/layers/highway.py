"""The highway layer of Srivastava, Greff & Schmidhuber 2015, "Training Very Deep Networks", equation (3).

    y = H(x) · T(x) + x · (1 − T(x)),    H(x) = relu(W_H x + b_H),  T(x) = σ(W_T x + b_T)

The bias of the gate starts at −2, so that at first the layer passes on nearly all of x (their section 2.2). The relu
and the place after a convolution are those of Kim et al. 2015, "Character-Aware Neural Language Models", equation (8).
"""

import torch
from torch import Tensor, nn

GATE_BIAS = -2.0


class Highway(nn.Module):
    """A layer with `size` inputs and outputs. The rows of `both` are W_H, then W_T: one product computes both."""

    def __init__(self, size: int):
        super().__init__()
        self.both = nn.Linear(size, 2 * size)
        with torch.no_grad():
            self.both.bias[size:] = GATE_BIAS

    def forward(self, inputs: Tensor) -> Tensor:
        """(…, size) → (…, size)"""
        transformed, gate = self.both(inputs).chunk(2, dim=-1)
        # x + T · (H − x) is the same with one product less.
        return torch.lerp(inputs, transformed.relu().type_as(inputs), gate.sigmoid().type_as(inputs))
