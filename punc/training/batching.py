"""The batches of an epoch of training, in order, each at its learning rate, and this rank's share of each.

A GPU computes while Python goes on to the next batch. So what Python does for a batch, to gather it and to pin its
memory, is time in which it cannot launch the next step. A thread does that while the loop waits for the GPU. On the CPU
there is no thread: it would take time from the arithmetic, which has the cores already.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

from punc.base.errors import InputError
from punc.models.base import Model
from punc.tokens.batches import Batch, gather, pinned, stateful, stateful_shape
from punc.tokens.chunks import Chunks, by_length, cut, padding, with_turns
from punc.tokens.store_set import Lazy, StoreSet
from punc.training.losses import slots_of
from punc.training.optim import Optimizer
from punc.training.options import TrainingOptions
from punc.training.ranks import ALONE, Ranks

logger = logging.getLogger(__name__)
BLOCK = 1 << 22  # labels that are counted at once
AHEAD = 8  # batches that wait for a GPU


def training_set(model: Model, data: StoreSet, options: TrainingOptions) -> StoreSet:
    """The set as the model reads it and the loss counts it. Raises InputError if the model reads turns and it has none.

    If the loss is that of tokens, a token without a slot has the first label, as each character does in Gale &
    Parthasarathy 2017, section 2.1.
    """
    if model.reads_turns:
        if data.turns is None:
            raise InputError(f"--speaker-changes true, but set '{options.train_set}' has no turns",
                             "add them to the data directory (docs/new-corpus.md), or leave the option out")
        if options.asr_noise:
            raise InputError("--asr-noise with --speaker-changes true", "leave one of them out: the errors move words, "
                             "and turns do not move with them")
        data = with_turns(data)
    labels = data.labels
    if options.loss_on == "slots" or labels is None:
        return data
    return data._replace(labels=Lazy(labels.shape, lambda tokens: np.maximum(labels[tokens], 0)))  # type: ignore[arg-type]


def cut_streams(model: Model, data: StoreSet, options: TrainingOptions, ranks: Ranks = ALONE) -> Chunks | None:
    """The chunks that the training set is cut into; None if training is stateful, which cuts nothing.

    Raises InputError if a model that reads whole streams is to be trained statefully, if there are more parts than
    batches, or if a batch has fewer rows than there are ranks.
    """
    if options.batching == "stateful" and model.lookahead is None:
        raise InputError("a model that reads whole streams cannot train statefully", "leave --batching out")
    if model.lookahead is not None and options.batching != "chunks":
        rows, width = stateful_shape(data.offsets, model.lookahead, options.batch_size, options.bptt)
        _check_rows(rows, "rows", ranks)
        _check_parts(-(-width // options.bptt), options)
        return None
    chunks = cut(data.offsets, model.lookahead, options.chunk_size, options.context)
    _check_rows(min(options.batch_size, len(chunks.stream)), "chunks", ranks)
    _check_parts(-(-len(chunks.stream) // options.batch_size), options)
    logger.info("%s: %s chunks, %.1f%% of the steps are padding", options.train_set, f"{len(chunks.stream):,}",
                100 * padding(chunks, options.batch_size))
    return chunks


def _check_rows(rows: int, what: str, ranks: Ranks) -> None:
    """Raise InputError if a batch cannot be shared by all ranks."""
    if ranks.size > rows:
        raise InputError(f"{ranks.size} ranks, but a batch has {rows} {what}",
                         f"start at most {rows}, or raise --batch-size if the training set is large enough")


def _check_parts(batches: int, options: TrainingOptions) -> None:
    """Raise InputError if a part would have no batch."""
    if options.parts > batches:
        raise InputError(f"--parts {options.parts}, but set '{options.train_set}' is {batches} batches",
                         f"give at most {batches} parts")


def epoch_batches(model: Model, data: StoreSet, chunks: Chunks | None, options: TrainingOptions, epoch: int,
                  ranks: Ranks = ALONE, finish: Callable[[Batch], Batch] | None = None) -> Iterator[Batch]:
    """This rank's share of the batches of epoch `epoch`, from 0.

    Chunks come in an order that is drawn anew for each reading of the set. Of each batch a rank has every
    `ranks.size`-th row, so chunks of similar length. In a small batch of the end it may have none.

    finish   makes the batches what training needs of them, before they are shared
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
    return (batch.share(ranks.rank, ranks.size, len(model.labels)) for batch in batches)


def epoch_seed(options: TrainingOptions, epoch: int) -> int:
    """The seed of an epoch: the same in a run that was stopped before it."""
    return options.seed + 1000003 * (epoch + 1)


def count_slots(data: StoreSet) -> int:
    """How many slots the set has, at least 1. Only some labels of a large set are in memory at a time."""
    assert data.labels is not None, "the set is labelled"
    blocks = (data.labels[start:start + BLOCK] for start in range(0, len(data.labels), BLOCK))
    return max(sum(int(np.count_nonzero(block >= 0)) for block in blocks), 1)


def at_rates(batches: Iterator[Batch], updates: Optimizer, rate: float, fall: float, slots: float, epoch: int = 0,
             warmup: float = 0.0) -> Iterator[Batch]:
    """The batches of an epoch of `slots` slots, during which the learning rate falls from `rate` by `fall`.

    epoch    epochs before this one
    warmup   epochs from the first on, during which all rates are multiplied by what rises from 0 to 1
    """
    done = 0
    for batch in batches:
        own = slots_of(batch)
        warm = min(1.0, (epoch + (done + own) / slots) / warmup) if warmup else 1.0
        updates.set_learning_rate(warm * (rate - fall * done / slots))
        yield batch
        done += own


def prefetch(batches: Iterator[Batch], device: torch.device) -> Iterator[Batch]:
    """The same batches in the same order. For a GPU a thread prepares them, in pinned memory, up to AHEAD of them.

    They are still on the CPU, and `Batch.to` copies them to the GPU.
    """
    def prepare(batch: Batch) -> Batch:
        with torch.cuda.device(device):  # a thread begins on the first GPU, and pinning would begin to use that one
            return batch.map(pinned)

    return ahead(batches, prepare) if device.type == "cuda" else batches


def ahead(batches: Iterator[Batch], prepare: Callable[[Batch], Batch]) -> Iterator[Batch]:
    """The batches, prepared by a thread while the caller uses those before.

    What `batches` or `prepare` raises is raised here, after the batches before it. The thread ends with the last batch,
    and when the iterator is closed or no longer used.
    """
    def following() -> Batch | None:
        batch = next(batches, None)
        return None if batch is None else prepare(batch)

    pool = ThreadPoolExecutor(1, "prefetch")
    try:
        waiting = deque(pool.submit(following) for _ in range(AHEAD))
        while (batch := waiting.popleft().result()) is not None:
            waiting.append(pool.submit(following))
            yield batch
    finally:
        pool.shutdown(cancel_futures=True)
