"""A dilated convolution of two taps with a gated residual connection.

    y(t) = x(t) + tanh(W x' + a) · σ(V x' + b),    x' = [x(t − ⌊d/2⌋), x(t + ⌈d/2⌉)]

Gale & Parthasarathy 2017, section 2.3.5, say that each layer covers twice the context of the layer below, and that
gated residual connections worked better than a plain sum. They do not give the gate. Here it is the gated unit of van
den Oord et al. 2016, "WaveNet", equation (2), which they cite, added to the layer's input (He et al. 2015, equation
(1); where the sizes differ, to a linear projection of the input, equation (2)).

The two taps are d steps apart, d = 1, 2, 4, …, so that n layers see 2ⁿ tokens. Each pair lies around its t: n layers
see t − ⌊(2ⁿ − 1)/2⌋ … t + ⌈(2ⁿ − 1)/2⌉, as an n-gram of that paper does.
"""

import torch
from torch import Tensor, nn


class GatedResidual(nn.Module):
    """`size` filters over vectors of `input_dim`, with two taps that are `dilation` steps apart.

    There is no padding: the output has `dilation` steps less than the input. The rows of `both` are W, then V.
    """

    def __init__(self, input_dim: int, size: int, dilation: int):
        super().__init__()
        self.dilation = dilation
        self.both = nn.Linear(2 * input_dim, 2 * size)
        self.project = nn.Identity() if input_dim == size else nn.Linear(input_dim, size, bias=False)

    def forward(self, inputs: Tensor) -> Tensor:
        """(B, T + d, input_dim) → (B, T, size)"""
        steps, here = inputs.shape[1] - self.dilation, self.dilation // 2
        taps = torch.cat([inputs[:, :steps], inputs[:, self.dilation:]], dim=2)
        candidate, gate = self.both(taps).chunk(2, dim=2)
        return torch.addcmul(self.project(inputs[:, here:here + steps]), candidate.tanh(), gate.sigmoid())
