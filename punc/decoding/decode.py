"""Posteriors of a model for whole streams, long streams in overlapping pieces, and live streams."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, repeat

import numpy as np
import torch

from punc.decoding.segments import BATCH_SIZE, CHUNK_SIZE, CONTEXT
from punc.models.base import Model
from punc.tokens.batches import Batch, by_length, cut, gather
from punc.tokens.store import END, StoreSet

STEPS = 32  # steps of a carried state at once: what one holds fits the cache
UNCUT = 1 << 40


@torch.inference_mode()
def log_posteriors(model: Model, data: StoreSet, chunk_size: int = CHUNK_SIZE, context: int = CONTEXT,
                   batch_size: int = BATCH_SIZE) -> np.ndarray:
    """The logarithm of the posterior of each label in each slot, float32 (N, L), for all streams of `data`.

    chunk_size slots of a stream decoded in one go; 0: all
    context  slots before a piece (and after it) that are read with it
    batch_size chunks in a batch; changes the speed, not the labels

    A model that is not trained by gradient decodes whole streams itself.
    """
    if not model.trained_by_gradient:
        return model.log_posteriors_of(data)
    result = np.empty((len(data.ids), len(model.labels)), np.float32)
    for batch, logits, place in _logits(model, data, chunk_size, context, batch_size):
        place(result, model.log_posteriors(logits, batch.tokens))
    return result


@torch.inference_mode()
def decode(model: Model, data: StoreSet, scale: np.ndarray | None = None, *, viterbi: bool = True,
           posteriors: bool = False, chunk_size: int = CHUNK_SIZE, context: int = CONTEXT,
           batch_size: int = BATCH_SIZE) -> tuple[np.ndarray, np.ndarray | None]:
    """The label of each slot, int64 (N,), and with `posteriors` what `log_posteriors` gives.

    scale    (L,) factors of the posteriors before the choice; None: all 1
    viterbi  take the labels of the most probable sequence where the model is `sequential`; else each slot's own

    The other arguments are those of `log_posteriors`.
    """
    if not (viterbi and model.sequential):
        log_probs = log_posteriors(model, data, chunk_size, context, batch_size)
        return choose(log_probs, scale), log_probs if posteriors else None
    labels = np.empty(len(data.ids), np.int64)
    log_probs = np.empty((len(data.ids), len(model.labels)), np.float32) if posteriors else None
    factors = torch.from_numpy(scaled(np.zeros(len(model.labels), np.float32), scale))
    for batch, logits, place in _logits(model, data, chunk_size, context, batch_size):
        place(labels, model.best_sequence(logits + factors, batch.tokens))
        if posteriors:
            place(log_probs, model.log_posteriors(logits, batch.tokens))
    return labels, log_probs


def _logits(model: Model, data: StoreSet, chunk_size: int, context: int,
            batch_size: int) -> Iterator[tuple[Batch, torch.Tensor, Callable[[np.ndarray, torch.Tensor], None]]]:
    """Batches with their logits (B, T, L), and what puts values (B, T, …) of slots in their places in (N, …)."""
    chunks = cut(data.offsets, model.lookahead, chunk_size or UNCUT, context)
    for group in by_length(chunks, batch_size):
        kept = [a[group].tolist() for a in chunks]

        def place(result: np.ndarray, values: torch.Tensor, kept: list[list[int]] = kept) -> None:
            for row, (stream, first, _, begin, end) in enumerate(zip(*kept)):
                offset = int(data.offsets[stream])
                result[offset + begin:offset + end] = values[row, begin - first:end - first].numpy()

        batch = gather(data, chunks, group, model.lookahead)
        yield batch, _forward(model, batch), place


def _forward(model: Model, batch: Batch) -> torch.Tensor:
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


def choose(log_probs: np.ndarray, scale: np.ndarray | None = None) -> np.ndarray:
    """The most probable label of each slot, (N,), of log-posteriors (N, L); ties go to the weaker one.

    scale   (L,) factors of the posteriors before the choice (Che et al. 2016, section 3.4: O halved); None: all 1
    """
    return scaled(log_probs, scale).argmax(axis=1)


def scaled(log_probs: np.ndarray, scale: np.ndarray | None) -> np.ndarray:
    """Logarithms of posteriors (N, L) that were multiplied by factors (L,); None: all 1."""
    return log_probs if scale is None else log_probs + np.log(scale)


def live(model: Model, tokens: Iterable[tuple[int, float]]) -> Iterator[np.ndarray]:
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
