"""Posteriors of a stream that is still arriving, one token at a time. This module does not import torch."""

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain, repeat
from typing import Any, Protocol

import numpy as np

from punc.tokens.vocabulary import END


class Steps(Protocol):
    """What a model must have to decode token by token: the attributes of `models.base.Model` with these names."""

    lookahead: int | None

    def stepper(self) -> Any: ...


def streaming_logits(model: "Steps", tokens: Iterable[tuple[int, float]]) -> Iterator[np.ndarray]:
    """The logits (L,) of each slot of a stream, as soon as the model's look-ahead allows.

    tokens   the id of each token and the pause *before* it in seconds (NaN unknown)

    Raises ValueError if the model reads whole streams.
    """
    if model.lookahead is None:
        raise ValueError("this model reads whole streams")
    ahead = model.lookahead
    stepper, slot = model.stepper(), -ahead
    # The pause before the newest token is in the slot one back; the slot decided now is `ahead` back.
    pauses = deque([np.nan] * max(ahead, 1), maxlen=max(ahead, 1))
    for token, pause in chain(tokens, repeat((END, np.nan), ahead)):
        pauses.append(pause)
        logits = stepper.step(token, pauses[0] if ahead else np.nan)
        if slot >= 0:
            yield logits
        slot += 1
