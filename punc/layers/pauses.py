"""Two properties of a slot as inputs of a network: its pause, and whether the speaker changes in it.

In Tilk & Alumäe 2015, section 2.3, the pause p(t) is its duration in seconds. The paper does not say how an unknown
pause is represented. Here, it is 0, and an optional second input distinguishes it from a pause of 0 s. A change of
speaker (not in the paper) is another input: 1 if the next word has another speaker, otherwise 0.

The pause can also be a learned vector (`PauseVectors`). There is one vector for each class of durations, and one for
unknown pauses. The ratios of successive class bounds are about equal. From the duration itself, a network can hardly
learn that 0.1 s and 0.4 s mean different things. All vectors are initially zero, so that they have no effect at first.
"""

import torch
from torch import Tensor, nn

BOUNDS = (0.02, 0.08, 0.15, 0.25, 0.4, 0.6, 0.9, 1.4, 2.5)  # seconds; 0 is a class of its own
CLASSES = len(BOUNDS) + 2  # class 0: unknown; class 1: below the first bound; …; last class: at least the last bound


class PauseInput:
    """Computes the chosen inputs, `size` in all: the pause in seconds, whether it is unknown, whether a turn ends."""

    def __init__(self, seconds: bool = True, turns: bool = False, unknown_flag: bool = False):
        self.seconds, self.turns, self.unknown_flag = seconds, turns, unknown_flag
        self.size = seconds + turns + unknown_flag

    def __call__(self, pauses: Tensor | None, tokens: Tensor) -> Tensor:
        """Returns the inputs (T, B, size) for tokens (B, T). `pauses` are seconds (B, T), NaN unknown, or seconds and
        turns (B, T, 2); None if all are unknown."""
        pauses = torch.full(tokens.shape, torch.nan, device=tokens.device) if pauses is None else pauses
        seconds, turns = (pauses, torch.zeros_like(pauses)) if pauses.dim() == 2 else pauses.unbind(2)
        columns = [seconds.nan_to_num(nan=0.0)] * self.seconds + [seconds.isnan().float()] * self.unknown_flag
        columns += [turns.nan_to_num(nan=0.0)] * self.turns
        return torch.stack(columns, dim=2).transpose(0, 1)


class PauseVectors(nn.Module):
    """Learned vectors of `size` numbers for pauses."""

    def __init__(self, size: int):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(CLASSES, size))
        self.bounds: Tensor
        self.register_buffer("bounds", torch.tensor(BOUNDS), persistent=False)

    def forward(self, pauses: Tensor | None, tokens: Tensor) -> Tensor:
        """Returns vectors (B, T, size). `pauses` (B, T) are seconds, NaN unknown; None means that all are unknown."""
        if pauses is None:
            return self.weight[0].expand(*tokens.shape, -1)
        above = (pauses.unsqueeze(-1) >= self.bounds).sum(-1)  # few operations: live streams run this for each word
        known = (pauses == pauses).long()  # false for NaN
        return nn.functional.embedding((above + 1) * known, self.weight)
