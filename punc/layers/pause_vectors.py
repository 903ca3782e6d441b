"""The pause of a slot as a learned vector: one vector for each class of durations, and one for an unknown pause.

A network that gets the duration itself (`pause_input`) must bend a straight line to tell 0.1 s from 0.4 s, and 5 s
pull as hard as ten pauses of 0.5 s. Classes have no such order, their bounds are about equal ratios, and engines whose
word times differ by a few hundredths of a second give the same class. A class whose vector is zero says nothing, so all
vectors begin as zeros, and that of an unknown pause stays the zero point of the others.
"""

import torch
from torch import Tensor, nn

BOUNDS = (0.02, 0.08, 0.15, 0.25, 0.4, 0.6, 0.9, 1.4, 2.5)  # seconds; 0 is a class of its own
CLASSES = len(BOUNDS) + 2  # 0: unknown; 1: below the first bound; …; the last: from the last bound on


class PauseVectors(nn.Module):
    """Vectors of `size` numbers for pauses."""

    def __init__(self, size: int):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(CLASSES, size))
        self.bounds: Tensor
        self.register_buffer("bounds", torch.tensor(BOUNDS), persistent=False)

    def forward(self, pauses: Tensor | None, tokens: Tensor) -> Tensor:
        """Pauses (B, T) in seconds, NaN unknown, or None if all are unknown; tokens (B, T) → (B, T, size)."""
        if pauses is None:
            return self.weight[0].expand(*tokens.shape, -1)
        classes = torch.bucketize(pauses.contiguous(), self.bounds, right=True) + 1
        return nn.functional.embedding(classes.masked_fill(pauses.isnan(), 0), self.weight)
