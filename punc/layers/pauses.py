"""Network inputs for each slot: the pause, and whether the speaker changes.

In Tilk & Alumäe 2015, section 2.3, the input p(t) is the pause in seconds. The paper does not say how an unknown pause
is represented. Here, p(t) is 0 for an unknown pause, and an optional second input marks unknown pauses. A further
optional input, which is not in the paper, is 1 if a different speaker says the next word, and 0 otherwise.

`PauseVectors` represents a pause by a learned vector: one vector for each class of durations, and one for unknown
pauses. From the duration in seconds, a network can hardly learn that 0.1 s and 0.4 s mean different things. All vectors
are initially zero, so that they have no effect at first.
"""

import torch
from torch import Tensor, nn

BOUNDS = (0.02, 0.08, 0.15, 0.25, 0.4, 0.6, 0.9, 1.4, 2.5)  # seconds; spaced about logarithmically
CLASSES = len(BOUNDS) + 2  # class 0: unknown pauses; class 1: pauses below the first bound; and so on


class PauseInput:
    """Computes the chosen inputs for each slot: the pause in seconds, whether it is unknown, whether a turn ends."""

    def __init__(self, seconds: bool = True, turns: bool = False, unknown_flag: bool = False):
        self.seconds, self.turns, self.unknown_flag = seconds, turns, unknown_flag
        self.size = seconds + turns + unknown_flag

    def __call__(self, pauses: Tensor | None, tokens: Tensor) -> Tensor:
        """Return the inputs (T, B, size) for tokens (B, T). `pauses` are seconds (B, T), or seconds and turns
        (B, T, 2). NaN: unknown; None: all are unknown."""
        pauses = torch.full(tokens.shape, torch.nan, device=tokens.device) if pauses is None else pauses
        seconds, turns = (pauses, torch.zeros_like(pauses)) if pauses.dim() == 2 else pauses.unbind(2)
        columns = [seconds.nan_to_num(nan=0.0)] * self.seconds + [seconds.isnan().float()] * self.unknown_flag
        columns += [turns.nan_to_num(nan=0.0)] * self.turns
        return torch.stack(columns, dim=2).transpose(0, 1)


class PauseVectors(nn.Module):
    """Maps pauses to learned vectors of `size` numbers."""

    def __init__(self, size: int):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(CLASSES, size))
        self.bounds: Tensor
        self.register_buffer("bounds", torch.tensor(BOUNDS), persistent=False)

    def forward(self, pauses: Tensor | None, tokens: Tensor) -> Tensor:
        """Return vectors (B, T, size). `pauses` (B, T) are seconds. NaN: unknown; None: all are unknown."""
        if pauses is None:
            return self.weight[0].expand(*tokens.shape, -1)
        # Written for speed, because live streams run this line for each word.
        above = (pauses.unsqueeze(-1) >= self.bounds).sum(-1)
        known = (pauses == pauses).long()  # false for NaN
        return nn.functional.embedding((above + 1) * known, self.weight)
