"""The properties of a slot as inputs of a network: its pause, and whether the speaker changes there.

In Tilk & Alumäe 2015, section 2.3, the pause is p(t), the duration in seconds. The paper does not say how an unknown
pause is represented. Here it is 0, and a second input can tell it from a pause of 0 s. A change of speaker, which the
paper does not have, is one more input, 1 if another speaker says the next word, else 0.

The pause can also be a learned vector (`PauseVectors`), one for each class of durations, with bounds in about equal
ratios, and one for an unknown pause: with the duration itself as input, a network can hardly learn that 0.1 s and 0.4 s
mean different things. All vectors are initially zero, which has no effect.
"""

import torch
from torch import Tensor, nn

BOUNDS = (0.02, 0.08, 0.15, 0.25, 0.4, 0.6, 0.9, 1.4, 2.5)  # seconds; 0 is a class of its own
CLASSES = len(BOUNDS) + 2  # 0: unknown; 1: below the first bound; …; the last: from the last bound on


class PauseInput:
    """`size` inputs, as chosen: seconds, whether a turn ends, whether the pause is unknown."""

    def __init__(self, seconds: bool = True, turns: bool = False, unknown_flag: bool = False):
        self.seconds, self.turns, self.unknown_flag = seconds, turns, unknown_flag
        self.size = seconds + turns + unknown_flag

    def __call__(self, pauses: Tensor | None, tokens: Tensor) -> Tensor:
        """Pauses (B, T) in seconds, NaN unknown, or None; or pauses and turns (B, T, 2); tokens (B, T) → (T, B,
        size)."""
        pauses = torch.full(tokens.shape, torch.nan, device=tokens.device) if pauses is None else pauses
        seconds, turns = (pauses, torch.zeros_like(pauses)) if pauses.dim() == 2 else pauses.unbind(2)
        columns = [seconds.nan_to_num(nan=0.0)] * self.seconds + [seconds.isnan().float()] * self.unknown_flag
        columns += [turns.nan_to_num(nan=0.0)] * self.turns
        return torch.stack(columns, dim=2).transpose(0, 1)


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
        above = (pauses.unsqueeze(-1) >= self.bounds).sum(-1)  # few operations: a stream computes them for each word
        known = (pauses == pauses).long()  # NaN is not equal to itself
        return nn.functional.embedding((above + 1) * known, self.weight)
