"""Streams as batches of steps, for training and decoding.

`models.base` defines a step: at step t a model reads token t + lookahead of the stream, and decides slot t. A stream of
n slots has the steps −lookahead … n − 1. Streams are cut in one of two ways:

- *stateful*: all streams, end to end, are cut into as many equal rows as a batch has. A batch is the next steps of each
  row, and the model's state goes on from batch to batch. This is truncated back-propagation through time over text of
  any length.
- *chunks*: each stream is cut into chunks of some slots. A chunk is read with some context around it that is not
  scored, from a fresh state. This is for models that read whole streams, for independent short texts (one that is not
  longer than a chunk is one chunk), and for decoding the parts of a long stream in parallel.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from punc.tokens.chunks import Arrays, Chunks, empty_arrays, gather_arrays
from punc.tokens.store_set import StoreSet

BLOCK = 64  # batches of stateful training that are gathered at once


class Batch(NamedTuple):
    """The steps of B rows.

    tokens  (B, T) int64; END after a stream's end
    pauses  (B, T) float32, of the slots; None if the data has none; (B, T, 2) with turns (`with_turns`)
    labels  (B, T) int64, of the slots; -1 where a step has no slot that is scored
    fresh   whether the model starts from a fresh state; if not, the steps follow those of the previous batch
    counts  (L,) int64, how often each label occurs in the batch that this is a share of; None if it is the whole batch
    targets (B, T, L) float32, the distributions of a teacher, zeros where a step has no slot; None without a teacher
    """

    tokens: Tensor
    pauses: Tensor | None
    labels: Tensor
    fresh: bool = True
    counts: Tensor | None = None
    targets: Tensor | None = None

    def map(self, function: Callable[[Tensor], Tensor]) -> "Batch":
        """The batch with what a function makes of each of the tensors of B rows."""
        return self._replace(tokens=function(self.tokens), labels=function(self.labels),
                             pauses=None if self.pauses is None else function(self.pauses),
                             targets=None if self.targets is None else function(self.targets))

    def to(self, device: torch.device) -> "Batch":
        """The batch on a device. It is copied to a GPU from pinned memory, and the CPU does not wait for the copy."""
        if device.type != "cuda":
            return self.map(lambda tensor: tensor.to(device))
        return self.map(pinned).map(lambda tensor: tensor.to(device, non_blocking=True))

    def share(self, number: int, of: int, labels: int) -> "Batch":
        """Every `of`-th row, from row `number` on. There are `labels` labels."""
        counts = torch.bincount(self.labels[self.labels >= 0], minlength=labels)
        return self.map(lambda tensor: tensor[number::of].contiguous())._replace(counts=counts)


def pinned(tensor: Tensor) -> Tensor:
    """A tensor in pinned memory, from which a GPU reads it without the CPU."""
    return tensor.contiguous().pin_memory()


def stateful_shape(offsets: np.ndarray, lookahead: int, batch_size: int, bptt: int) -> tuple[int, int]:
    """How many rows a batch of `stateful` has, `batch_size` or fewer for a short text, and how many steps each row."""
    steps = int(offsets[-1] - offsets[0]) + (len(offsets) - 1) * lookahead
    rows = max(1, min(batch_size, steps // bptt))
    return rows, -(-steps // rows)


def stateful(data: StoreSet, lookahead: int, batch_size: int, bptt: int, part: int = 0,
             parts: int = 1) -> Iterator[Batch]:
    """Batches of `batch_size` rows and `bptt` steps that go over all streams, end to end.

    part, parts   only the batches of this part, from 0, of so many parts of all rows; each begins in a fresh state

    Only some batches are in memory at a time. A short text has fewer rows: each has at least `bptt` steps.
    """
    batch_size, width = stateful_shape(data.offsets, lookahead, batch_size, bptt)
    firsts = data.offsets[:-1] - data.offsets[0] + lookahead * np.arange(len(data.offsets) - 1)  # steps of streams
    batches = -(-width // bptt)
    first = batches * part // parts * bptt
    last = min(width, batches * (part + 1) // parts * bptt)
    for block in range(first, last, BLOCK * bptt):
        size = min(BLOCK * bptt, last - block)
        arrays = empty_arrays(data, batch_size, size)
        for row in range(batch_size):
            start = row * width + block
            _fill_row(data, lookahead, firsts, start, start + size, row, arrays)
        for step in range(0, size, bptt):
            yield _batch(arrays, slice(step, step + bptt), block + step == first)


def _batch(arrays: Arrays, steps: slice = slice(None), fresh: bool = True) -> Batch:
    """Some steps of all rows as tensors."""
    tokens, pauses, labels = arrays
    return Batch(torch.from_numpy(tokens[:, steps]), None if pauses is None else torch.from_numpy(pauses[:, steps]),
                 torch.from_numpy(labels[:, steps]), fresh)


def _fill_row(data: StoreSet, lookahead: int, firsts: np.ndarray, start: int, stop: int, row: int,
              arrays: Arrays) -> None:
    """Fill a row with the steps [start, stop) of the line of all streams, each of which has a first one."""
    tokens, pauses, labels = arrays
    for stream in range(int(np.searchsorted(firsts, start, "right")) - 1, int(np.searchsorted(firsts, stop))):
        first, offset = int(firsts[stream]), int(data.offsets[stream])
        length = int(data.offsets[stream + 1]) - offset
        for source, target, delay in ((data.ids, tokens, 0), (data.pauses, pauses, lookahead),
                                      (data.labels, labels, lookahead)):
            if source is not None and target is not None:
                begin = max(start, first + delay)
                end = min(stop, first + delay + length)
                if begin < end:
                    shift = offset - first - delay
                    target[row, begin - start:end - start] = source[begin + shift:end + shift]


def gather(data: StoreSet, chunks: Chunks, group: np.ndarray, lookahead: int | None) -> Batch:
    """The chunks with the indices `group` as one batch, padded at the end of its rows."""
    return _batch(gather_arrays(data, chunks, group, lookahead))
