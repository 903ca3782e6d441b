"""Posteriors of a model for whole streams, long streams in overlapping pieces, and live streams."""

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain, repeat

import numpy as np
import torch

from punc.batches import Batch, by_length, cut, gather
from punc.models.base import Fitted, Neural
from punc.parts import CONTEXT, PIECE, ROWS
from punc.store import END, StoreSet

STEPS = 32  # steps of a carried state at once: what one holds fits the cache
UNCUT = 1 << 40


def log_posteriors(model: Neural | Fitted, data: StoreSet, piece: int = PIECE, context: int = CONTEXT,
                   rows: int = ROWS) -> np.ndarray:
    """The logarithm of the posterior of each label in each slot, float32 (N, L), for all streams of `data`.

    piece    slots of a stream decoded in one go; 0: all
    context  slots before a piece (and after it) that are read with it
    rows     pieces in a batch; changes the speed, not the labels

    A fitted model goes over its streams by itself.
    """
    if isinstance(model, Fitted):
        return model.log_posteriors(data)
    pieces = cut(data.offsets, model.lookahead, piece or UNCUT, context)
    result = np.empty((len(data.ids), len(model.labels)), np.float32)
    with torch.inference_mode():
        for group in by_length(pieces, rows):
            batch = gather(data, pieces, group, model.lookahead)
            logs = _forward(model, batch).log_softmax(2).numpy()
            for row, (stream, first, _, begin, end) in enumerate(zip(*(a[group].tolist() for a in pieces))):
                offset = int(data.offsets[stream])
                result[offset + begin:offset + end] = logs[row, begin - first:end - first]
    return result


def _forward(model: Neural, batch: Batch) -> torch.Tensor:
    """Logits (B, T, L) from a fresh state; a state is carried through short runs of steps."""
    state = model.initial_state(len(batch.tokens))
    if model.lookahead is None:
        return model(batch.tokens, batch.pauses, state)[0]
    logits = []
    for begin in range(0, batch.tokens.shape[1], STEPS):
        part = slice(begin, begin + STEPS)
        pauses = None if batch.pauses is None else batch.pauses[:, part]
        out, state = model(batch.tokens[:, part], pauses, state)
        logits.append(out)
    return torch.cat(logits, dim=1)


def choose(logs: np.ndarray, scale: np.ndarray | None = None) -> np.ndarray:
    """The most probable label of each slot, (N,), of log-posteriors (N, L); ties go to the weaker one.

    scale   (L,) factors of the posteriors before the choice (Che et al. 2016, section 3.4: O halved); None: all 1
    """
    return scaled(logs, scale).argmax(axis=1)


def scaled(logs: np.ndarray, scale: np.ndarray | None) -> np.ndarray:
    """Logarithms of posteriors (N, L) that were multiplied by factors (L,); None: all 1."""
    return logs if scale is None else logs + np.log(scale)


def live(model: Neural, tokens: Iterable[tuple[int, float]]) -> Iterator[np.ndarray]:
    """The logits (L,) of each slot of a stream, as soon as the model's look-ahead allows.

    tokens   the id of each token and the pause *before* it in seconds (NaN unknown)

    A model that reads whole streams has to wait for the end.
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
