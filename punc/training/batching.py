"""The batches of an epoch of training, in order, each at its learning rate, and this rank's share of each.

At step t a model reads token t + lookahead of the stream, and decides slot t (`models.base.model`). A stream of n slots
has the steps −lookahead … n − 1. Streams are cut in one of two ways:

- *stateful*: all streams, end to end, are cut into as many equal rows as a batch has. A batch is the next steps of each
  row, and the state continues from batch to batch: truncated back-propagation through time over text of any length.
- *chunks*: each stream is cut into chunks of some slots, which are read from a fresh state with some context around
  them that is not scored. This is for models that read whole streams, and for independent short texts.
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
GATHERED = 64  # batches of stateful training that are gathered at once
BLOCK = 1 << 22  # labels that are counted at once


class Batch(NamedTuple):
    """The steps of B rows. Labels and targets belong to slots; a step may have no slot that is scored."""

    tokens: Tensor  # (B, T) int64; END after a stream's end
    pauses: Tensor | None  # (B, T) float32; None if the data has none; (B, T, 2) with turns (`with_turns`)
    labels: Tensor  # (B, T) int64, −1 without a slot
    fresh: bool = True  # the model starts from a fresh state; if not, the steps follow those of the previous batch
    whole: int | None = None  # slots of the whole batch if this is a share of it; else None
    targets: Tensor | None = None  # (B, T, L) float32, distributions of a teacher, zeros without a slot

    @property
    def slots(self) -> int:
        """How many slots the batch has or, if this is a share, the whole batch."""
        return int((self.labels >= 0).sum()) if self.whole is None else self.whole

    @property
    def share_of_slots(self) -> float:
        """This batch's share of the slots of the whole batch; 1 if it is the whole batch."""
        return 1.0 if self.whole is None else int((self.labels >= 0).sum()) / max(self.whole, 1)

    def map(self, function: Callable[[Tensor], Tensor]) -> "Batch":
        """The batch with a function applied to each of the tensors of B rows."""
        return self._replace(tokens=function(self.tokens), labels=function(self.labels),
                             pauses=None if self.pauses is None else function(self.pauses),
                             targets=None if self.targets is None else function(self.targets))

    def to(self, device: torch.device) -> "Batch":
        """The batch on a device. It is copied to a GPU from pinned memory, and the CPU does not wait for the copy."""
        if device.type != "cuda":
            return self.map(lambda tensor: tensor.to(device))
        return self.map(lambda tensor: tensor.contiguous().pin_memory().to(device, non_blocking=True))

    def share(self, number: int, of: int) -> "Batch":
        """Every `of`-th row, from row `number` on."""
        return self.map(lambda tensor: tensor[number::of].contiguous())._replace(whole=self.slots)


def stateful_shape(offsets: np.ndarray, lookahead: int, batch_size: int, bptt: int) -> tuple[int, int]:
    """How many rows a batch of `stateful` has, `batch_size` or fewer for a short text, and how many steps each row."""
    steps = int(offsets[-1] - offsets[0]) + (len(offsets) - 1) * lookahead
    rows = max(1, min(batch_size, steps // bptt))
    return rows, -(-steps // rows)


def stateful(data: StoreSet, lookahead: int, batch_size: int, bptt: int, part: int = 0,
             parts: int = 1) -> Iterator[Batch]:
    """Batches of `batch_size` rows and `bptt` steps that go over all streams, end to end.

    part, parts   only the batches of one part, from 0, of `parts` of all rows; each part begins in a fresh state

    Only some batches are in memory at a time. A short text has fewer rows, so that each has at least `bptt` steps.
    """
    batch_size, width = stateful_shape(data.offsets, lookahead, batch_size, bptt)
    firsts = data.offsets[:-1] - data.offsets[0] + lookahead * np.arange(len(data.offsets) - 1)  # of streams
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
    """Some steps of all rows as tensors."""
    tokens, pauses, labels = arrays
    return Batch(torch.from_numpy(tokens[:, steps]), None if pauses is None else torch.from_numpy(pauses[:, steps]),
                 torch.from_numpy(labels[:, steps]), fresh)


def _fill_row(data: StoreSet, lookahead: int, firsts: np.ndarray, start: int, stop: int, row: int,
              arrays: Arrays) -> None:
    """Fill a row with the steps [start, stop) of all streams, end to end; `firsts` are the first steps of streams."""
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


def training_set(model: Model, data: StoreSet, options: TrainingOptions) -> StoreSet:
    """The set as the model and the loss read it. Raises InputError if the model reads turns and the set has none.

    With --loss-on tokens, a token without a slot has the first label, as in Gale & Parthasarathy 2017, section 2.1.
    """
    if model.reads_turns:
        if data.turns is None:
            raise InputError(f"--speaker-changes true, but set '{options.train_set}' has no turns",
                             "add them to the data directory (docs/prepare-data.md), or leave the option out")
        if options.asr_noise:
            raise InputError("--asr-noise with --speaker-changes true",
                             "leave one of them out, because the errors move words, but not turns")
        data = with_turns(data)
    labels = data.labels
    if options.loss_on == "slots" or labels is None:
        return data
    return data._replace(labels=Lazy(labels.shape, lambda tokens: np.maximum(labels[tokens], 0)))  # type: ignore[arg-type]


def cut_streams(model: Model, data: StoreSet, options: TrainingOptions, ranks: Ranks = ALONE) -> Chunks | None:
    """The chunks that the training set is cut into; None if training is stateful, because then nothing is cut.

    Raises InputError if the model cannot be trained this way, if there are more parts than batches, or fewer rows
    than ranks.
    """
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
    """Raise InputError if a batch cannot be shared by all ranks, or if a part would have no batch."""
    if ranks.size > rows:
        raise InputError(f"{ranks.size} ranks, but a batch has {rows} {what}",
                         f"start at most {rows}, or raise --batch-size if the training set is large enough")
    if options.parts > batches:
        raise InputError(f"--parts {options.parts}, but set '{options.train_set}' has only {batches} batches",
                         f"give at most {batches} parts")


def epoch_batches(model: Model, data: StoreSet, chunks: Chunks | None, options: TrainingOptions, epoch: int,
                  ranks: Ranks = ALONE, finish: Callable[[Batch], Batch] | None = None) -> Iterator[Batch]:
    """This rank's share of the batches of epoch `epoch`, from 0: every `ranks.size`-th row of each; it may be empty.

    The order of chunks is drawn again for each reading of the set. `finish` completes a batch first.
    """
    reading, part = divmod(epoch, options.parts)
    if chunks is None:
        assert model.lookahead is not None, "cut_streams refused it"
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
    """The seed of an epoch, which is the same in a run that was stopped before."""
    return options.seed + 1000003 * (epoch + 1)


def count_slots(data: StoreSet) -> int:
    """How many slots the set has, at least 1. Only some labels of a large set are in memory at a time."""
    assert data.labels is not None, "the set is labelled"
    blocks = (data.labels[start:start + BLOCK] for start in range(0, len(data.labels), BLOCK))
    return max(sum(int(np.count_nonzero(block >= 0)) for block in blocks), 1)


def at_rates(batches: Iterator[Batch], updates: Optimizer, rate: float, fall: float, slots: float, epoch: int = 0,
             warmup: float = 0.0) -> Iterator[Batch]:
    """The batches of an epoch of `slots` slots, during which the learning rate falls from `rate` by `fall`. During the
    first `warmup` epochs, of which `epoch` are done, all rates are multiplied by a factor that rises from 0 to 1."""
    done = 0
    for batch in batches:
        own = batch.slots
        warm = min(1.0, (epoch + (done + own) / slots) / warmup) if warmup else 1.0
        updates.set_learning_rate(warm * (rate - fall * done / slots))
        yield batch
        done += own
