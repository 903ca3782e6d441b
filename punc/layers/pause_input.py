"""The pause of a slot as an input of a network.

In Tilk & Alumäe 2015, section 2.3, it is p(t), the duration in seconds. The paper does not say how an unknown pause is
represented, as next to a word that was not aligned. Here it is 0; a second input can tell it from a pause of 0 s: 1 for
an unknown pause, else 0.
"""

import numpy as np
import torch
from torch import Tensor


class PauseInput:
    """Pauses as `size` inputs: seconds and, with `unknown_flag`, whether the pause is unknown."""

    def __init__(self, unknown_flag: bool = False):
        self.unknown_flag, self.size = unknown_flag, 1 + unknown_flag

    def __call__(self, pauses: Tensor | None, tokens: Tensor) -> Tensor:
        """Pauses (B, T) in seconds, NaN unknown, or None if all are unknown; tokens (B, T) → (T, B, size)."""
        pauses = torch.full(tokens.shape, torch.nan, device=tokens.device) if pauses is None else pauses
        columns = [pauses.nan_to_num(nan=0.0)] + [pauses.isnan().float()] * self.unknown_flag
        return torch.stack(columns, dim=2).transpose(0, 1)

    def step(self, pause: float) -> np.ndarray:
        """The inputs (size,) of one pause."""
        unknown = pause != pause
        return np.array([0.0 if unknown else pause, unknown][:self.size], np.float32)
