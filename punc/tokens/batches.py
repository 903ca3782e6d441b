"""Streams as batches of steps, for training and decoding.

What a step is stands in punc.models.base: at step t a model reads token t + lookahead of the stream, and
decides slot t; a stream of n slots has the steps −lookahead … n − 1. Two ways to cut streams:

- *lanes*: all streams end to end, cut into as many equal lanes as the batch has rows; the state is carried
  from batch to batch. For truncated back-propagation through time over any length of text.
- *pieces*: each stream in pieces of some slots, each read with some context around it that it is not
  scored on, from a fresh state. For models that read whole texts, for independent short texts (a text
  that is not longer than a piece is one piece), and for decoding long streams side by side.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from punc.tokens.store import END, StoreSet

BLOCK = 64  # batches of lanes that are gathered at once


class Batch(NamedTuple):
    """Steps of B streams side by side.

    tokens  (B, T) int64, END past a stream's end
    pauses  (B, T) float32, of the slots; None where the data has none
    labels  (B, T) int64, of the slots; -1 where a step has no slot to be scored
    fresh   whether the model begins anew; else the steps follow those of the batch before
    """

    tokens: Tensor
    pauses: Tensor | None
    labels: Tensor
    fresh: bool = True


class Chunks(NamedTuple):
    """Pieces of streams, int64 arrays (K,): a piece reads steps [first, last) and keeps slots [begin, end)."""

    stream: np.ndarray
    first: np.ndarray
    last: np.ndarray
    begin: np.ndarray
    end: np.ndarray


def stateful(data: StoreSet, lookahead: int, batch_size: int, bptt: int) -> Iterator[Batch]:
    """All streams end to end in `rows` lanes, `steps` steps a batch; memory is some batches, not the corpus."""
    lengths = np.diff(data.offsets) + lookahead
    firsts = np.concatenate([[0], np.cumsum(lengths)])  # the step in the long line with which each stream begins
    batch_size = max(1, min(batch_size, int(firsts[-1]) // bptt))
    width = -(-int(firsts[-1]) // batch_size)
    for block in range(0, width, BLOCK * bptt):
        size = min(BLOCK * bptt, width - block)
        filled = _empty(data, batch_size, size)
        for row in range(batch_size):
            start = row * width + block
            _fill_line(data, lookahead, firsts, start, min(start + size, (row + 1) * width), row, filled)
        for step in range(0, size, bptt):
            parts = (None if a is None else torch.from_numpy(a[:, step:step + bptt]) for a in filled)
            yield Batch(*parts, fresh=block == step == 0)


def _empty(data: StoreSet, batch_size: int, size: int) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
    pauses = None if data.pauses is None else np.full((batch_size, size), np.nan, np.float32)
    return np.full((batch_size, size), END, np.int64), pauses, np.full((batch_size, size), -1, np.int64)


def _fill_line(data: StoreSet, lookahead: int, firsts: np.ndarray, start: int, stop: int, row: int, filled) -> None:
    """Fill a row with the steps [start, stop) of the long line."""
    tokens, pauses, labels = filled
    stream = int(np.searchsorted(firsts, start, "right")) - 1
    while stream < len(firsts) - 1 and firsts[stream] < stop:
        first, offset = int(firsts[stream]), int(data.offsets[stream])
        length = int(data.offsets[stream + 1]) - offset
        for source, target, shift in ((data.ids, tokens, 0), (data.pauses, pauses, lookahead),
                                      (data.labels, labels, lookahead)):
            if source is not None:
                begin, end = max(start, first + shift), min(stop, first + shift + length)
                if begin < end:
                    place = offset - first - shift
                    target[row, begin - start:end - start] = source[begin + place:end + place]
        stream += 1


def cut(offsets: np.ndarray, lookahead: int | None, size: int, context: int) -> Chunks:
    """Cut streams [offsets[i], offsets[i + 1]) into pieces of `size` slots, read with `context` slots around.

    With a look-ahead, the context is what was before, and the steps in which the look-ahead is filled.
    How a stream is cut depends on nothing but its length.
    """
    lengths = np.diff(offsets)
    counts = -(-lengths // size)
    stream = np.repeat(np.arange(len(lengths)), counts)
    begin = (np.arange(len(stream)) - np.repeat(np.cumsum(counts) - counts, counts)) * size
    end = np.minimum(begin + size, lengths[stream])
    if lookahead is None:
        return Chunks(stream, np.maximum(begin - context, 0), np.minimum(end + context, lengths[stream]), begin, end)
    return Chunks(stream, np.maximum(begin - context, 0) - lookahead, end, begin, end)


def by_length(chunks: Chunks, batch_size: int, rng: np.random.Generator | None = None) -> list[np.ndarray]:
    """Groups of at most `rows` pieces of about one length: so little is padded. In random order with an `rng`."""
    lengths = chunks.last - chunks.first
    if rng is None:
        return np.split(np.argsort(-lengths, kind="stable"), range(batch_size, len(lengths), batch_size)) if len(lengths) else []
    order = rng.permutation(len(lengths))
    order = order[np.argsort(-lengths[order], kind="stable")]
    groups = np.split(order, range(batch_size, len(lengths), batch_size))
    return [groups[i] for i in rng.permutation(len(groups))]


def padding(chunks: Chunks, batch_size: int) -> float:
    """The part of the steps of all groups `by_length` that is padding."""
    lengths = np.sort(chunks.last - chunks.first)[::-1]
    sizes = np.diff(np.append(np.arange(0, len(lengths), batch_size), len(lengths)))
    return 1.0 - float(lengths.sum()) / max(float(lengths[::batch_size] @ sizes), 1.0)


def gather(data: StoreSet, chunks: Chunks, group: np.ndarray, lookahead: int | None) -> Batch:
    """The pieces with the numbers `group` as one batch, padded at the end."""
    filled = tokens, pauses, labels = _empty(data, len(group), int((chunks.last - chunks.first)[group].max()))
    ahead = lookahead or 0
    for row, (stream, first, last, begin, end) in enumerate(zip(*(a[group].tolist() for a in chunks))):
        offset, length = int(data.offsets[stream]), int(data.offsets[stream + 1] - data.offsets[stream])
        known = min(last + ahead, length) - (first + ahead)
        tokens[row, :known] = data.ids[offset + first + ahead:offset + first + ahead + known]
        if pauses is not None:
            slot = max(first, 0)
            pauses[row, slot - first:last - first] = data.pauses[offset + slot:offset + last]
        if data.labels is not None:
            labels[row, begin - first:end - first] = data.labels[offset + begin:offset + end]
    return Batch(*(None if a is None else torch.from_numpy(a) for a in filled))
