"""Posteriors of a stream that is still arriving, one token at a time. This module does not import torch."""

from collections import deque
from collections.abc import Iterable, Iterator
from copy import copy
from itertools import islice, repeat
from typing import Any, Protocol

import numpy as np

from punc.tokens.vocabulary import END


class Steps(Protocol):
    """What a model must have to decode token by token: the attributes of `models.base.Model` with these names."""

    lookahead: int | None
    reads_pauses: bool

    def stepper(self) -> Any: ...


class SlotStream:
    """A stream whose tokens come one by one. Raises ValueError if the model reads whole streams."""

    def __init__(self, model: "Steps"):
        if model.lookahead is None:
            raise ValueError("this model reads whole streams")
        self._ahead, self._slot = model.lookahead, -model.lookahead
        self._stepper = model.stepper()
        self._step = self._stepper.step
        # The pause before the newest token is in the slot one back; the slot decided now is `lookahead` back.
        self._pauses = deque([np.nan] * max(self._ahead, 1), maxlen=max(self._ahead, 1))

    def push(self, token: int, pause: float) -> np.ndarray | None:
        """The next token, and the pause *before* it in seconds (NaN unknown) → the logits (L,) of the slot that they
        decide, which is `lookahead` tokens back; None while there is none."""
        self._pauses.append(pause)
        logits = self._step(token, self._pauses[0] if self._ahead else np.nan)
        self._slot += 1
        return logits if self._slot > 0 else None

    def close(self, pause: float = np.nan, following: Iterable[int] = repeat(END)) -> Iterator[np.ndarray]:
        """The logits of the slots that the end of the stream decides.

        pause       after the last token
        following   what the model reads in place of the tokens that do not come
        """
        for token in islice(following, self._ahead):
            logits = self.push(token, pause)
            pause = np.nan
            if logits is not None:
                yield logits

    def expect(self, pause: float, ways: Iterable[Iterable[int]]) -> Iterator[np.ndarray]:
        """The slots that wait: log-posteriors (L,), the mean of the posteriors over several ways to go on.

        pause   after the last token
        ways    tokens that may follow, at least `lookahead` each
        """
        for logits in zip(*(self.copy().close(pause, following) for following in ways)):
            powers = np.exp(np.array(logits) - np.max(logits, axis=1, keepdims=True))
            yield np.log((powers / powers.sum(1, keepdims=True)).mean(0))

    def copy(self) -> "SlotStream":
        """Another stream in the same state; what is pushed to one does not change the other."""
        other = copy(self)
        other._stepper, other._pauses = self._stepper.copy(), self._pauses.copy()
        other._step = other._stepper.step
        return other


def streaming_logits(model: "Steps", tokens: Iterable[tuple[int, float]]) -> Iterator[np.ndarray]:
    """The logits (L,) of each slot of a stream, as soon as the model's look-ahead allows.

    tokens   the id of each token and the pause *before* it in seconds (NaN unknown)

    Raises ValueError if the model reads whole streams.
    """
    stream = SlotStream(model)
    for token, pause in tokens:
        logits = stream.push(token, pause)
        if logits is not None:
            yield logits
    yield from stream.close()
