"""Yields the batches of an epoch, sets the learning rate for each batch, and divides batches among ranks.

At step t, a model reads token t + lookahead of the stream and labels slot t (`models.base.model`). A stream of n slots
has the steps −lookahead … n − 1. Streams are cut in one of two ways:

- *stateful*: the streams are concatenated and cut into `batch_size` rows of equal length. Each batch contains the next
  `bptt` steps of all rows, and the state continues from batch to batch (truncated back-propagation through time).
- *chunks*: each stream is cut into chunks of slots. At each chunk, the model starts from its initial state. It also
  reads some context around the chunk, which is not scored. Models with `lookahead = None` need chunks. Chunks also suit
  short, independent texts.
"""

import logging
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from punc.base.errors import InputError
from punc.models.base import Model
from punc.tokens.chunks import Arrays, Chunks, by_length, cut, empty_arrays, gather_arrays, padding, with_turns
from punc.tokens.store_set import Lazy, StoreSet
from punc.training.optim import Optimizer
from punc.training.options import TrainingOptions
from punc.training.ranks import ALONE, Ranks

logger = logging.getLogger(__name__)
GATHERED = 64  # the number of batches that stateful training gathers at once
BLOCK = 1 << 22  # the number of labels that are counted at once


class Batch(NamedTuple):
    """T steps of B rows. A step may have no slot, or a slot that is not scored."""

    tokens: Tensor  # (B, T) int64; END after the end of a stream
    pauses: Tensor | None  # (B, T) float32, or (B, T, 2) with turns (`with_turns`); None if the data has none
    labels: Tensor  # (B, T) int64; −1 if there is no slot or it is not scored
    fresh: bool = True  # true: the model starts from its initial state; false: the steps continue the previous batch
    whole: int | None = None  # the number of slots in the complete batch, if this one is a rank's share; otherwise None
    targets: Tensor | None = None  # (B, T, L) float32, a teacher's distributions; zeros where labels are −1

    @property
    def slots(self) -> int:
        """The number of slots in the batch. For a rank's share of a batch, it is the number in the complete batch."""
        return int((self.labels >= 0).sum()) if self.whole is None else self.whole

    @property
    def share_of_slots(self) -> float:
        """The fraction of the complete batch's slots that are in this rank's share. It is 1 for a complete batch."""
        return 1.0 if self.whole is None else int((self.labels >= 0).sum()) / max(self.whole, 1)

    def map(self, function: Callable[[Tensor], Tensor]) -> "Batch":
        return self._replace(tokens=function(self.tokens), labels=function(self.labels),
                             pauses=None if self.pauses is None else function(self.pauses),
                             targets=None if self.targets is None else function(self.targets))

    def to(self, device: torch.device) -> "Batch":
        """Copy the batch to a device. Copies to a GPU use pinned memory, so that the CPU does not wait for them."""
        if device.type != "cuda":
            return self.map(lambda tensor: tensor.to(device))
        return self.map(lambda tensor: tensor.contiguous().pin_memory().to(device, non_blocking=True))

    def share(self, number: int, of: int) -> "Batch":
        """Divide the batch into `of` shares, and return share `number`, counted from 0. It consists of every `of`-th
        row, beginning with row `number`."""
        return self.map(lambda tensor: tensor[number::of].contiguous())._replace(whole=self.slots)


def stateful_shape(offsets: np.ndarray, lookahead: int, batch_size: int, bptt: int) -> tuple[int, int]:
    """Return the number of rows into which `stateful` cuts the concatenated streams, and the number of steps in a row.
    A small set is cut into fewer than `batch_size` rows, so that each row has at least `bptt` steps if possible."""
    steps = int(offsets[-1] - offsets[0]) + (len(offsets) - 1) * lookahead
    rows = max(1, min(batch_size, steps // bptt))
    return rows, -(-steps // rows)


def stateful(data: StoreSet, lookahead: int, batch_size: int, bptt: int, part: int = 0,
             parts: int = 1) -> Iterator[Batch]:
    """Yield batches of `bptt` steps of all rows into which the concatenated streams are cut (see `stateful_shape`).
    Each row is divided into `parts` parts; only the batches of part number `part`, from 0, are yielded. GATHERED
    batches at a time are read from the set."""
    batch_size, width = stateful_shape(data.offsets, lookahead, batch_size, bptt)
    # The first step of each stream.
    firsts = data.offsets[:-1] - data.offsets[0] + lookahead * np.arange(len(data.offsets) - 1)
    batches = -(-width // bptt)
    first = batches * part // parts * bptt
    last = min(width, batches * (part + 1) // parts * bptt)
    for block in range(first, last, GATHERED * bptt):
        size = min(GATHERED * bptt, last - block)
        arrays = empty_arrays(data, batch_size, size)
        for row in range(batch_size):
            start = row * width + block
            _fill_row(data, lookahead, firsts, start, start + size, row, arrays)
        for step in range(0, size, bptt):
            yield _batch(arrays, slice(step, step + bptt), block + step == first)


def _batch(arrays: Arrays, steps: slice = slice(None), fresh: bool = True) -> Batch:
    tokens, pauses, labels = arrays
    return Batch(torch.from_numpy(tokens[:, steps]), None if pauses is None else torch.from_numpy(pauses[:, steps]),
                 torch.from_numpy(labels[:, steps]), fresh)


def _fill_row(data: StoreSet, lookahead: int, firsts: np.ndarray, start: int, stop: int, row: int,
              arrays: Arrays) -> None:
    """Fill a row with the steps [start, stop) of the concatenated streams, given the first step of each stream."""
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
    return _batch(gather_arrays(data, chunks, group, lookahead))


def training_set(model: Model, data: StoreSet, options: TrainingOptions) -> StoreSet:
    """Return the training set in the form that the model and the loss read. With --loss-on tokens, tokens without a
    slot get the first label (Gale & Parthasarathy 2017, section 2.1). A model that reads turns needs a set with
    turns, and cannot be trained with --asr-noise; otherwise, raises InputError."""
    if model.reads_turns:
        if data.turns is None:
            raise InputError(f"--speaker-changes true, but set '{options.train_set}' has no turns",
                             "add them to the data directory (docs/prepare-data.md), or leave the option out")
        if options.asr_noise:
            raise InputError("--asr-noise cannot be combined with --speaker-changes true",
                             "leave one of them out, because the errors move words, but not turns")
        data = with_turns(data)
    labels = data.labels
    if options.loss_on == "slots" or labels is None:
        return data
    return data._replace(labels=Lazy(labels.shape, lambda tokens: np.maximum(labels[tokens], 0)))  # type: ignore[arg-type]


def cut_streams(model: Model, data: StoreSet, options: TrainingOptions, ranks: Ranks = ALONE) -> Chunks | None:
    """Return the chunks of the training set, or None if training is stateful. Raises InputError if the model cannot be
    trained with this `batching`, there are more parts than batches, or a batch has fewer rows than there are ranks."""
    if options.batching == "stateful" and model.lookahead is None:
        raise InputError("a model that reads whole streams cannot train statefully", "leave --batching out")
    if model.lookahead is not None and options.batching != "chunks":
        rows, width = stateful_shape(data.offsets, model.lookahead, options.batch_size, options.bptt)
        _check_sizes(rows, "rows", -(-width // options.bptt), options, ranks)
        return None
    chunks = cut(data.offsets, model.lookahead, options.chunk_size, options.context)
    _check_sizes(min(options.batch_size, len(chunks.stream)), "chunks", -(-len(chunks.stream) // options.batch_size),
                 options, ranks)
    logger.info("%s: %s chunks, %.1f%% of the steps are padding", options.train_set, f"{len(chunks.stream):,}",
                100 * padding(chunks, options.batch_size))
    return chunks


def _check_sizes(rows: int, what: str, batches: int, options: TrainingOptions, ranks: Ranks) -> None:
    if ranks.size > rows:
        raise InputError(f"{ranks.size} ranks, but a batch has {rows} {what}",
                         f"start at most {rows}, or raise --batch-size if the training set is large enough")
    if options.parts > batches:
        raise InputError(f"--parts {options.parts}, but set '{options.train_set}' has only {batches} batches",
                         f"give at most {batches} parts")


def epoch_batches(model: Model, data: StoreSet, chunks: Chunks | None, options: TrainingOptions, epoch: int,
                  ranks: Ranks = ALONE, finish: Callable[[Batch], Batch] | None = None) -> Iterator[Batch]:
    """Yield this rank's share of each batch of an epoch; a share may have no rows. `epoch` counts from 0. The order of
    the chunks changes after each reading of the set, which takes `--parts` epochs. `finish` is applied to each complete
    batch before it is divided among ranks."""
    reading, part = divmod(epoch, options.parts)
    if chunks is None:
        assert model.lookahead is not None, "cut_streams refuses such models"
        batches = stateful(data, model.lookahead, options.batch_size, options.bptt, part, options.parts)
    else:
        groups = by_length(chunks, options.batch_size, np.random.default_rng(epoch_seed(options, reading)))
        batches = (gather(data, chunks, group, model.lookahead) for group in groups[part::options.parts])
    if finish:
        batches = map(finish, batches)
    if ranks.size == 1:
        return batches
    return (batch.share(ranks.rank, ranks.size) for batch in batches)


def epoch_seed(options: TrainingOptions, epoch: int) -> int:
    """Return the seed of an epoch. It depends only on --seed and `epoch`, so a continued run uses the same seeds as
    an uninterrupted run."""
    return options.seed + 1000003 * (epoch + 1)


def count_slots(data: StoreSet) -> int:
    """Return the number of slots in the set, but at least 1. Reads the labels in blocks."""
    assert data.labels is not None, "the set is labelled"
    blocks = (data.labels[start:start + BLOCK] for start in range(0, len(data.labels), BLOCK))
    return max(sum(int(np.count_nonzero(block >= 0)) for block in blocks), 1)


def at_rates(batches: Iterator[Batch], updates: Optimizer, rate: float, fall: float, slots: float, epoch: int = 0,
             warmup: float = 0.0) -> Iterator[Batch]:
    """Yield the batches of an epoch with `slots` slots, and set the learning rate before each batch. During the epoch,
    the rate falls linearly from `rate` to `rate - fall`. In the first `warmup` epochs of training, it is also
    multiplied by a factor that rises from 0 to 1.

    `epoch`: the number of earlier epochs
    """
    done = 0
    for batch in batches:
        own = batch.slots
        warm = min(1.0, (epoch + (done + own) / slots) / warmup) if warmup else 1.0
        updates.set_learning_rate(warm * (rate - fall * done / slots))
        yield batch
        done += own
