"""CNN-1: Che et al. 2016, "Punctuation Prediction for Unsegmented Transcript Based on Word Vector", section 2.2.

As in Kim 2014, filters as wide as a word vector move over the m words around a slot. A filter covers h words at a time,
and the maximum of its output over all positions is a feature. The paper does not give the activation of the filters;
here it is tanh, as in Kim, equation (2).

    f(h) = max over time of tanh(F(h) * x + c(h))      128 filters for each of h = 1 … 4
    h1 = σ(W1 [f(1) … f(4)] + b1); h2 = σ(W2 h1 + b2)  4096, 2048 units
    ŷ = softmax(W3 h2 + b3)
"""

from typing import Any

import torch
from torch import Tensor, nn

from punc.models.base import WindowModel

HEIGHTS = 4  # the maximum height of a filter, in words


class Model(WindowModel):
    """CNN-1. It also has the options of WindowModel.

    filters      number of filters of each height; heights go from 1 to 4 words, or to `window` words if that is less
    hidden_dim   units of the second fully connected layer; the first has twice as many
    """

    def __init__(self, vocab: int, labels: int, filters: int = 128, hidden_dim: int = 2048, **options: Any):
        super().__init__(vocab, labels, **options)
        heights = min(HEIGHTS, self.window)
        self.filters = nn.ModuleList(nn.Conv1d(self.embedding_dim, filters, h) for h in range(1, heights + 1))
        self.classifier = self.fully_connected(heights * filters, 2 * hidden_dim, hidden_dim, labels)

    def logits(self, vectors: Tensor) -> Tensor:
        words = vectors.flatten(0, 1)  # (B·T, m, n)
        features = torch.cat([self._maximum(words, filters) for filters in self.filters], dim=1)  # (B·T, F)
        return self.classifier(features).unflatten(0, vectors.shape[:2])

    def _maximum(self, words: Tensor, filters: Any) -> Tensor:
        if torch.jit.is_tracing():  # exporters do not support the `unfold` below
            return filters(words.transpose(1, 2)).amax(2).tanh()
        # For five words, a matrix product is twice as fast as a convolution.
        runs = words.unfold(1, filters.kernel_size[0], 1).flatten(2)  # (B·T, m − h + 1, n·h)
        return nn.functional.linear(runs, filters.weight.flatten(1), filters.bias).amax(1).tanh()
