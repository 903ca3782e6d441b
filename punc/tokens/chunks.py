"""Cuts streams into chunks, and makes batches of chunks as NumPy arrays. This module does not import torch.

A chunk is a range of slots of a stream. At each chunk, a model starts from its initial state. It also reads some
context around the chunk, which is not scored.
"""

from typing import NamedTuple

import numpy as np

from punc.base.runs import ranges
from punc.tokens.store_set import Lazy, StoreSet
from punc.tokens.vocabulary import END

Arrays = tuple[np.ndarray, np.ndarray | None, np.ndarray]  # tokens, pauses and labels as in a Batch


class Chunks(NamedTuple):
    """K chunks, int64 arrays (K,). For each chunk, a model reads the steps [first, last) of the stream, and the slots
    [begin, end) of the stream are scored."""

    stream: np.ndarray
    first: np.ndarray
    last: np.ndarray
    begin: np.ndarray
    end: np.ndarray


def cut(offsets: np.ndarray, lookahead: int | None, size: int, context: int) -> Chunks:
    """Cut streams [offsets[i], offsets[i + 1]) into chunks of `size` slots, with `context` slots on each side. If
    `lookahead` is a number, the context is before the chunk only, and `lookahead` more steps precede the context."""
    lengths = np.diff(offsets)
    counts = -(-lengths // size)
    stream = np.repeat(np.arange(len(lengths)), counts)
    begin = ranges(np.zeros_like(counts), counts) * size
    end = np.minimum(begin + size, lengths[stream])
    if lookahead is None:
        return Chunks(stream, np.maximum(begin - context, 0), np.minimum(end + context, lengths[stream]), begin, end)
    return Chunks(stream, np.maximum(begin - context, 0) - lookahead, end, begin, end)


def by_length(chunks: Chunks, batch_size: int, rng: np.random.Generator | None = None) -> list[np.ndarray]:
    """Group chunks of similar length, at most `batch_size` in a group. Returns the int64 indices of the chunks in each
    group, longest chunk first. With `rng`, the groups are in random order, and chunks of equal length are shuffled."""
    lengths = chunks.last - chunks.first
    order = np.arange(len(lengths)) if rng is None else rng.permutation(len(lengths))
    order = order[np.argsort(-lengths[order], kind="stable")]
    groups = np.split(order, range(batch_size, len(lengths), batch_size)) if len(lengths) else []
    return groups if rng is None else [groups[i] for i in rng.permutation(len(groups))]


def padding(chunks: Chunks, batch_size: int) -> float:
    """Return the fraction of steps that would be padding if `by_length` grouped the chunks."""
    lengths = np.sort(chunks.last - chunks.first)[::-1]
    sizes = np.diff(np.append(np.arange(0, len(lengths), batch_size), len(lengths)))
    return 1.0 - float(lengths.sum()) / max(float(lengths[::batch_size] @ sizes), 1.0)


def gather_arrays(data: StoreSet, chunks: Chunks, group: np.ndarray, lookahead: int | None) -> Arrays:
    """Return the chunks with the indices `group` as the arrays of a batch. Pads short rows at the end."""
    arrays = tokens, pauses, labels = empty_arrays(data, len(group), int((chunks.last - chunks.first)[group].max()))
    ahead = lookahead or 0
    for row, (stream, first, last, begin, end) in enumerate(zip(*(a[group].tolist() for a in chunks))):
        offset = int(data.offsets[stream])
        length = int(data.offsets[stream + 1] - data.offsets[stream])
        known = min(last + ahead, length) - (first + ahead)
        tokens[row, :known] = data.ids[offset + first + ahead:offset + first + ahead + known]
        if data.pauses is not None and pauses is not None:
            slot = max(first, 0)
            pauses[row, slot - first:last - first] = data.pauses[offset + slot:offset + last]
        if data.labels is not None:
            labels[row, begin - first:end - first] = data.labels[offset + begin:offset + end]
    return arrays


def empty_arrays(data: StoreSet, batch_size: int, size: int) -> Arrays:
    """Return arrays (batch_size, size) in which every step is past the end of a stream."""
    shape = batch_size, size
    pauses = None if data.pauses is None else np.full((*shape, *data.pauses.shape[1:]), np.nan, np.float32)
    return np.full(shape, END, np.int64), pauses, np.full(shape, -1, np.int64)


def with_turns(data: StoreSet) -> StoreSet:
    """Return the set with its turns in `pauses`, which then has two columns, float32 (N, 2): pause in seconds (NaN:
    unknown) and turn (1: the speaker changes)."""
    def both(tokens: slice) -> np.ndarray:
        values = np.zeros((len(data.ids[tokens]), 2), np.float32)
        values[:, 0] = np.nan if data.pauses is None else data.pauses[tokens]
        if data.turns is not None:
            values[:, 1] = data.turns[tokens]
        return values

    return data._replace(pauses=Lazy((len(data.ids), 2), both))  # type: ignore[arg-type]
