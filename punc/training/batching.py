"""The batches of an epoch of training, in order, each at its learning rate."""

import logging
from collections.abc import Iterator

import numpy as np

from punc.base.errors import InputError
from punc.models.base import Model
from punc.tokens.batches import Batch, gather, stateful
from punc.tokens.chunks import Chunks, by_length, cut, padding
from punc.tokens.store_set import StoreSet
from punc.training.optim import Optimizer
from punc.training.options import TrainingOptions

logger = logging.getLogger(__name__)
BLOCK = 1 << 22  # labels that are counted at once


def cut_streams(model: Model, data: StoreSet, options: TrainingOptions) -> Chunks | None:
    """The chunks that the training set is cut into; None if training is stateful, which cuts nothing.

    Raises InputError if a model that reads whole streams is to be trained statefully.
    """
    if options.batching == "stateful" and model.lookahead is None:
        raise InputError("a model that reads whole streams cannot train statefully", "leave --batching out")
    if model.lookahead is not None and options.batching != "chunks":
        return None
    chunks = cut(data.offsets, model.lookahead, options.chunk_size, options.context)
    logger.info("%s: %s chunks, %.1f%% of the steps are padding", options.train_set, f"{len(chunks.stream):,}",
                100 * padding(chunks, options.batch_size))
    return chunks


def epoch_batches(model: Model, data: StoreSet, chunks: Chunks | None, options: TrainingOptions,
                  seed: int) -> Iterator[Batch]:
    """The batches of one epoch; chunks come in an order that is drawn with `seed`."""
    if chunks is None:
        assert model.lookahead is not None, "cut_streams refused it"
        return stateful(data, model.lookahead, options.batch_size, options.bptt)
    return (gather(data, chunks, group, model.lookahead)
            for group in by_length(chunks, options.batch_size, np.random.default_rng(seed)))


def count_slots(data: StoreSet) -> int:
    """How many slots the set has, at least 1. Only some labels of a large set are in memory at a time."""
    assert data.labels is not None, "the set is labelled"
    blocks = (data.labels[start:start + BLOCK] for start in range(0, len(data.labels), BLOCK))
    return max(sum(int(np.count_nonzero(block >= 0)) for block in blocks), 1)


def at_rates(batches: Iterator[Batch], updates: Optimizer, rate: float, fall: float, slots: int) -> Iterator[Batch]:
    """The batches of an epoch of `slots` slots, during which the learning rate falls from `rate` by `fall`."""
    done = 0
    for batch in batches:
        updates.set_learning_rate(rate - fall * done / slots)
        yield batch
        done += int((batch.labels >= 0).sum())
