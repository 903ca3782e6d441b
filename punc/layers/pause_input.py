"""The pause of a slot as an input of a network.

Tilk & Alumäe 2015, section 2.3, have it as p(t), its duration in seconds, and do not say how one is given that is not
known, as beside a word that was not aligned. Here it is 0; and where it is to be told from a pause of 0 s, a second
input is 1 for one that is not known, else 0.
"""

import numpy as np
import torch
from torch import Tensor


class PauseInput:
    """Pauses as `size` inputs: seconds, and with `tell_unknown` whether the pause is not known."""

    def __init__(self, unknown_flag: bool = False):
        self.unknown_flag, self.size = unknown_flag, 1 + unknown_flag

    def __call__(self, pauses: Tensor | None, tokens: Tensor) -> Tensor:
        """Pauses (B, T), seconds, NaN unknown, or None where none is known, of tokens (B, T) → (T, B, size)."""
        pauses = torch.full(tokens.shape, torch.nan) if pauses is None else pauses
        columns = [pauses.nan_to_num(nan=0.0)] + [pauses.isnan().float()] * self.unknown_flag
        return torch.stack(columns, dim=2).transpose(0, 1)

    def step(self, pause: float) -> np.ndarray:
        """The inputs (size,) of one pause."""
        unknown = pause != pause
        return np.array([0.0 if unknown else pause, unknown][:self.size], np.float32)
