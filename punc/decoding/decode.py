"""Posteriors and labels of streams; a long stream is decoded in overlapping chunks."""

from collections.abc import Callable, Iterator

import numpy as np
import torch

from punc.base.products import fast_products
from punc.decoding.choose import choose, scaled
from punc.decoding.options import BATCH_SIZE, CHUNK_SIZE, UNCUT
from punc.models.base import Model
from punc.tokens.batches import Batch, gather
from punc.tokens.chunks import by_length, cut
from punc.tokens.slot_inputs import with_turns
from punc.tokens.store_set import StoreSet
from punc.tokens.tokenizer import tokenizer_class

STEPS = 32  # steps with a carried state that are computed together: what they hold fits the cache


@torch.inference_mode()
def log_posteriors(model: Model, data: StoreSet, chunk_size: int = CHUNK_SIZE, context: int | None = None,
                   batch_size: int = BATCH_SIZE) -> np.ndarray:
    """The log-posterior of each label in each slot, float32 (N, L), for all streams of `data`.

    chunk_size  tokens of a stream decoded in one go; 0: the whole stream
    context     tokens read before each chunk (and after it, by a model that reads both ways); None: its tokenizer's
    batch_size  chunks decoded together; changes the speed, not the labels

    A model that is not trained by gradient reads whole streams, so these three do not apply to it.
    """
    if not model.trained_by_gradient:
        return model.log_posteriors_of(data)
    result = np.empty((len(data.ids), len(model.labels)), np.float32)
    for batch, logits, write in _logits(model, data, chunk_size, context, batch_size):
        write(result, model.log_posteriors(logits, batch.tokens))
    return result


@torch.inference_mode()
def decode(model: Model, data: StoreSet, scale: np.ndarray | None = None, *, viterbi: bool = True,
           posteriors: bool = False, chunk_size: int = CHUNK_SIZE, context: int | None = None,
           batch_size: int = BATCH_SIZE) -> tuple[np.ndarray, np.ndarray | None]:
    """The label of each slot, int64 (N,), and, with `posteriors`, the result of `log_posteriors`; else None.

    scale    (L,) factors of the posteriors before labels are chosen; None: all 1
    viterbi  take the most probable sequence of labels if the model is `sequential`; else each slot's best label

    The other arguments are those of `log_posteriors`.
    """
    if not (viterbi and model.sequential):
        found = log_posteriors(model, data, chunk_size, context, batch_size)
        return choose(found, scale), found if posteriors else None
    labels = np.empty(len(data.ids), np.int64)
    log_probs = np.empty((len(data.ids), len(model.labels)), np.float32) if posteriors else None
    factors = torch.from_numpy(scaled(np.zeros(len(model.labels), np.float32), scale)).to(model.device)
    for batch, logits, write in _logits(model, data, chunk_size, context, batch_size):
        write(labels, model.best_sequence(logits + factors, batch.tokens))
        if log_probs is not None:
            write(log_probs, model.log_posteriors(logits, batch.tokens))
    return labels, log_probs


def _logits(model: Model, data: StoreSet, chunk_size: int, context: int | None,
            batch_size: int) -> Iterator[tuple[Batch, torch.Tensor, Callable[[np.ndarray, torch.Tensor], None]]]:
    """Each batch with its logits (B, T, L), and a function that writes values (B, T, …) to their slots in (N, …)."""
    context = tokenizer_class(model.token_type).context if context is None else context
    if model.reads_turns:
        data = with_turns(data)
    chunks = cut(data.offsets, model.lookahead, chunk_size or UNCUT, context)
    for group in by_length(chunks, batch_size):
        kept = [a[group].tolist() for a in chunks]

        def write(result: np.ndarray, values: torch.Tensor, kept: list[list[int]] = kept) -> None:
            values = values.cpu()
            for row, (stream, first, _, begin, end) in enumerate(zip(*kept)):
                offset = int(data.offsets[stream])
                result[offset + begin:offset + end] = values[row, begin - first:end - first].numpy()

        batch = gather(data, chunks, group, model.lookahead).to(model.device)
        with fast_products(model.device):
            logits = _forward(model, batch)
        yield batch, logits, write


def _forward(model: Model, batch: Batch) -> torch.Tensor:
    """Logits (B, T, L) from a fresh state; a carried state advances STEPS steps at a time."""
    state = model.initial_state(len(batch.tokens))
    if model.lookahead is None:
        return model(batch.tokens, batch.pauses, state)[0]
    logits = []
    for begin in range(0, batch.tokens.shape[1], STEPS):
        steps = slice(begin, begin + STEPS)
        pauses = None if batch.pauses is None else batch.pauses[:, steps]
        out, state = model(batch.tokens[:, steps], pauses, state)
        logits.append(out)
    return torch.cat(logits, dim=1)
