"""Temporal max-pooling over the steps around each step (Gale & Parthasarathy 2017, section 2.3.4).

At a text's edges, what falls outside the text is filled with the steps beside it, not with zeros. As these are in the
region already, it comes to the same to take the largest of what is inside: so steps outside are set to the least value
that there can be.
"""

import torch
from torch import Tensor

from punc.tokens.store import END


def outside(line: Tensor) -> Tensor:
    """Which tokens of (B, T + 1) are outside a text, for all but the first: bool (B, T).

    The first END after a text is its own last token, any END after that is outside, as is one that nothing is before.
    """
    ends = line == END
    return ends[:, 1:] & ends[:, :-1]


def max_over_neighbours(features: Tensor, width: int) -> Tensor:
    """The largest of each `width` steps in a row: (B, T + width − 1, K) → (B, T, K)."""
    covered = 1
    while covered < width:  # a maximum of two regions is that of a region up to twice as wide
        shift = min(covered, width - covered)
        features = torch.maximum(features[:, :-shift], features[:, shift:])
        covered += shift
    return features
