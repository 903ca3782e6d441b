"""Training by gradient, epoch by epoch.

An epoch reads the training set once; then the development set is scored. The learning rate stays as long as that helps:
once the development loss falls by less than `--min-improvement`, the rate is halved after every epoch, and when the
loss falls by less than that again, training ends (Mikolov et al. 2011, as in Tilk & Alumäe 2015, section 3). With
`--schedule linear` the rate falls with every batch, on a line that reaches 0 at the end of the last epoch: for as many
epochs as one can afford (Li et al. 2020, Budgeted training). With `--warmup` it first rises from 0, batch by batch.

The model with the lowest development loss is kept; with `--keep f1`, the one with the highest development F1. After an
epoch that did not lower the loss, training continues from the model with the lowest loss; the paper does not say.

A stopped run continues from its last complete epoch, or within a long one (`under_way`), and ends with the same model
as an unbroken run: an epoch depends only on the weights, the state of the optimiser, the seed and the epoch's number.

Several processes, the ranks, can train one model (`ranks`). Each has a share of the rows of every batch, and the sum of
their gradients is the gradient of the whole batch, so they make the same updates as one process, up to rounding and
dropout. The first rank scores the development set and writes the files; an epoch then begins with its weights.
"""

import itertools
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor
from tqdm import tqdm

from punc.base.bfloat16 import has_bfloat16
from punc.base.log import hide_progress
from punc.base.stop import held
from punc.models.base import Model
from punc.tokens.batches import Batch
from punc.tokens.chunks import Chunks
from punc.tokens.store import Store
from punc.tokens.store_set import StoreSet
from punc.training import checkpoint
from punc.training.asr_noise import AsrNoise
from punc.training.batching import at_rates, count_slots, cut_streams, epoch_batches, epoch_seed, training_set
from punc.training.checkpoint import Progress, advance
from punc.training.epoch import train_epoch
from punc.training.evaluate import evaluate, labelled
from punc.training.losses import LabelLoss, check_weights
from punc.training.optim import Optimizer
from punc.training.options import TrainingOptions, parse_weights
from punc.training.prefetch import prefetch
from punc.training.ranks import Ranks
from punc.training.store_state import checksums
from punc.training.teacher import Teacher
from punc.training.under_way import UnderWay

logger = logging.getLogger(__name__)


class Reading(NamedTuple):
    """What an epoch reads.

    data     the training set, with the errors of the epoch if there is ASR noise
    chunks   what it is cut into; None if training is stateful
    """

    data: StoreSet
    chunks: Chunks | None


class Epochs:
    """The epochs of a training: its sets, its optimiser, and where its files are.

    Raises InputError for options that do not fit the model or the store, and if the ranks have not the same.
    """

    def __init__(self, net: Model, store: Store, directory: Path, options: TrainingOptions, conf: dict[str, Any],
                 ranks: Ranks):
        self._net, self._directory, self._options, self._conf, self._ranks = net, directory, options, conf, ranks
        with ranks.agree():
            labelled_set = labelled(store, options.train_set)
            data, self._dev = training_set(net, labelled_set, options), labelled(store, options.dev_set)
            self._teacher = Teacher.find(store, data, options)
            self._loss = self._teacher or LabelLoss(_class_weights(net, store, options), net.device)
            self._updates = Optimizer(net, options.optimizer, options.learning_rate, options.epsilon,
                                      options.weight_decay, options.max_grad_norm)
            self._reading = Reading(self._teacher.indexed if self._teacher else data,
                                    cut_streams(net, data, options, ranks))
            self._sums = checksums(store, options)
            self._noise = AsrNoise(labelled_set, store, options) if options.asr_noise else None
        ranks.check_same({**checkpoint.compared(conf), **{f"{name} (CRC-32)": value
                                                          for name, value in self._sums.items()},
                          "--device": net.device.type},
                         "start all ranks with the same options, on the same store")
        self._bfloat16 = options.bfloat16 and has_bfloat16(str(net.device))
        if self._bfloat16 != options.bfloat16:
            logger.warning("punc train: this processor has no bfloat16; float32 takes longer")
        self._fall = options.learning_rate / options.epochs if options.schedule == "linear" else 0.0
        self._under_way = UnderWay(directory, net, self._updates, conf, self._sums, ranks)
        self._tokens = len(data.ids) // options.parts  # of an epoch, about
        self._slots = self._count_slots()

    def run(self) -> None:
        """Train from the last epoch that is on disk, until training ends."""
        options, ranks = self._options, self._ranks
        progress = _resume(self._net, self._updates, self._directory, self._conf, self._sums, ranks) \
            or Progress(options.learning_rate)
        while not progress.ended and progress.epoch < options.epochs:
            loss = self._train(progress)
            seconds = self._under_way.seconds()
            with ranks.agree():
                if ranks.first:
                    progress = self._scored(progress, loss, seconds)
            progress = ranks.from_first(progress)
        if ranks.first and progress.epoch:
            logger.info("%s", checkpoint.kept_epoch(progress, options.keep))

    def _count_slots(self) -> float:
        """The slots of an epoch, if the learning rate depends on how many there are; else 1."""
        by_slot = self._fall > 0 or self._options.warmup > 0
        return count_slots(self._reading.data) / self._options.parts if by_slot else 1

    def _train(self, progress: Progress) -> float:
        """Train for the next epoch, or for the rest of it; the mean loss."""
        net, options, ranks, number = self._net, self._options, self._ranks, progress.epoch
        torch.manual_seed(epoch_seed(options, number) + ranks.rank)
        self._under_way.begin(number)
        ranks.copy_weights(net)
        if self._noise and (noisy := self._noise.of_epoch(number)):
            data = training_set(net, noisy, options)
            self._reading = Reading(data, cut_streams(net, data, options, ranks))
            self._slots = self._count_slots()
        batches = prefetch(epoch_batches(net, *self._reading, options, number, ranks, self._teacher), net.device)
        batches = at_rates(batches, self._updates, progress.learning_rate, self._fall, self._slots, number,
                           options.warmup)
        with tqdm(desc=f"epoch {number + 1}", total=self._tokens, unit="token", unit_scale=True, leave=False, delay=2,
                  disable=hide_progress()) as bar:
            rest = itertools.islice(_counted(batches, bar, ranks), self._under_way.place.batches, None)
            with self._under_way.written_if_stopped(), held():  # a signal waits for the end of a batch
                return train_epoch(net.train(), self._updates, rest, self._loss, self._bfloat16, ranks,
                                   self._under_way)

    def _scored(self, progress: Progress, loss: float, seconds: float) -> Progress:
        """Score the development set after the epoch, and write how far training is."""
        net, number = self._net, progress.epoch + 1
        with self._under_way.written_if_stopped():
            check_weights(net, number)
            dev_loss, dev_f1 = evaluate(net.eval(), self._dev)
        logger.info("epoch %d: rate %g, loss %.5f, dev loss %.5f, dev F1 %.2f, %s %s/s, %.1f s", number,
                    progress.learning_rate, loss, dev_loss, dev_f1, f"{self._tokens / seconds:,.0f}",
                    "words" if net.token_type == "word" else "tokens", seconds)
        progress = advance(progress, dev_loss, self._options.min_improvement, self._fall, dev_f1)
        with held():
            checkpoint.keep(self._directory, net, self._updates, progress, self._conf, self._sums)
        return progress


def _class_weights(net: Model, store: Store, options: TrainingOptions) -> Tensor | None:
    """The weight of each label in the loss, (L,). Raises InputError if the model's loss cannot have them."""
    weights = parse_weights(options.class_weights, store.labels)
    if weights is not None:
        logits = torch.zeros(1, 1, len(weights), device=net.device)
        net.loss(logits, torch.zeros(1, 1, dtype=torch.int64, device=net.device), weights)
    return weights


def _resume(net: Model, updates: Optimizer, directory: Path, conf: dict[str, Any], sums: Mapping[str, int],
            ranks: Ranks) -> Progress | None:
    """The progress that is on disk, and for each rank the model and the optimiser of then; None if there is none."""
    progress = None
    with ranks.agree():
        if ranks.first:
            progress = checkpoint.resume(directory, net, updates, conf, sums)
    progress = ranks.from_first(progress)
    if progress:  # the weights follow when the epoch begins
        ranks.copy_state(updates)
    return progress


def _counted(batches: Iterator[Batch], bar: tqdm, ranks: Ranks) -> Iterator[Batch]:
    """The batches; their tokens, padding and the other ranks' included, advance the progress bar."""
    for batch in batches:
        yield batch
        bar.update(batch.tokens.numel() * ranks.size)
