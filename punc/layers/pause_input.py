"""What is known of a slot as inputs of a network: its pause, and whether the speaker changes there.

In Tilk & Alumäe 2015, section 2.3, the pause is p(t), the duration in seconds. The paper does not say how an unknown
pause is represented, as next to a word that was not aligned. Here it is 0; a second input can tell it from a pause of
0 s: 1 for an unknown pause, else 0. The paper has no change of speaker: it is one more input, 1 if another speaker says
the next word, else 0, also where no change is known.
"""

import torch
from torch import Tensor


class PauseInput:
    """`size` inputs: seconds; with `unknown_flag`, whether the pause is unknown; with `turns`, whether a turn ends.

    Without `seconds`, the pause is none of them.
    """

    def __init__(self, unknown_flag: bool = False, turns: bool = False, seconds: bool = True):
        self.unknown_flag, self.turns, self.seconds = unknown_flag and seconds, turns, seconds
        self.size = seconds + self.unknown_flag + turns

    @classmethod
    def of_options(cls, pauses: bool, unknown_flag: bool, speaker_changes: bool) -> "PauseInput | None":
        """The inputs that a model's options ask for; None if they ask for none."""
        return cls(unknown_flag, speaker_changes, pauses) if pauses or speaker_changes else None

    def __call__(self, pauses: Tensor | None, tokens: Tensor) -> Tensor:
        """Pauses (B, T) in seconds, NaN unknown, or None if all are unknown; tokens (B, T) → (T, B, size).

        Pauses and turns are (B, T, 2), as in `tokens.slot_inputs`. Of pauses (B, T), no change is known.
        """
        pauses = torch.full(tokens.shape, torch.nan, device=tokens.device) if pauses is None else pauses
        seconds, turns = (pauses, torch.zeros_like(pauses)) if pauses.dim() == 2 else pauses.unbind(2)
        columns = [seconds.nan_to_num(nan=0.0)] * self.seconds + [seconds.isnan().float()] * self.unknown_flag
        columns += [turns.nan_to_num(nan=0.0)] * self.turns
        return torch.stack(columns, dim=2).transpose(0, 1)
