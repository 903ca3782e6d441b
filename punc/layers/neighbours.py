"""The vectors of neighbouring steps: side by side, and their maximum.

Temporal max-pooling as in Gale & Parthasarathy 2017, section 2.3.4: at the edges of a text, what lies outside is filled
with the nearest step, not with zeros. That step is in the region already, so the result is the maximum over the steps
inside. `cnn_ngram` therefore sets steps outside the text to the lowest possible value before the pooling.
"""

from typing import Any

import torch
from torch import Tensor

from punc.tokens.vocabulary import END


def concatenate_neighbours(vectors: Tensor, size: int) -> Tensor:
    """Vectors (B, T + size − 1, D) → for each step the vectors of `size` steps from there on, (B, T, size · D)."""
    return vectors.unfold(1, size, 1).transpose(2, 3).flatten(2)


def outside(line: Tensor) -> Tensor:
    """Which tokens of (B, T + 1), but for the first, are outside a text: bool (B, T).

    The first END after a text is the text's own last token. An END is outside if the token before it is END too.
    """
    ends = line == END
    return ends[:, 1:] & ends[:, :-1]


def max_over_neighbours(features: Tensor, width: int) -> Tensor:
    """The maximum of each `width` steps in a row: (B, T + width − 1, K) → (B, T, K).

    Its gradient goes to the first of equal steps.
    """
    covered = 1
    while covered < width:  # the maximum of two regions is that of a region up to twice as wide
        shift = min(covered, width - covered)
        features = _Maximum.apply(features[:, :-shift], features[:, shift:])
        covered += shift
    return features


class _Maximum(torch.autograd.Function):
    """torch.maximum, whose gradient takes a quarter of the time as it is not divided between equal elements."""

    @staticmethod
    def forward(ctx: Any, first: Tensor, second: Tensor) -> Tensor:
        if any(ctx.needs_input_grad):
            ctx.save_for_backward(first >= second)
        return torch.maximum(first, second)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        of_first = gradient * ctx.saved_tensors[0].to(gradient.dtype)
        return of_first, gradient - of_first
