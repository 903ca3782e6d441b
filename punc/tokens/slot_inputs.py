"""What a model that reads changes of the speaker gets of each slot: its pause, and whether a turn ends there."""

from typing import Any

import numpy as np

from punc.tokens.store_set import StoreSet


class PausesAndTurns:
    """The pauses and turns of a set as one float32 array (N, 2), of which only the slices that are read are made.

    Column 0 is the pause in seconds, NaN unknown. Column 1 is 1 if another speaker says the next word. If the set has
    no turns, no change is known, and it is 0.
    """

    def __init__(self, data: StoreSet):
        self.pauses, self.turns, self.shape = data.pauses, data.turns, (len(data.ids), 2)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, tokens: slice) -> np.ndarray:
        values = np.zeros((len(range(*tokens.indices(len(self)))), 2), np.float32)
        values[:, 0] = np.nan if self.pauses is None else self.pauses[tokens]
        if self.turns is not None:
            values[:, 1] = self.turns[tokens]
        return values


def with_turns(data: StoreSet) -> StoreSet:
    """The set with its pauses and turns (N, 2) for its pauses (N,), as models with `reads_turns` get them."""
    both: Any = PausesAndTurns(data)
    return data._replace(pauses=both)
