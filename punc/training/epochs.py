"""Trains models by gradient descent, epoch by epoch.

In each epoch, the model is trained on the training set or, with `--parts`, on one part of it; then the development set
is scored. With `--schedule halving`, the learning rate is constant until an epoch lowers the best development loss by
less than the fraction `--min-improvement`. From then on, the rate is halved after every epoch, and training ends
after the next epoch that lowers the loss by so little (Mikolov et al. 2011, as in Tilk & Alumäe 2015, section 3). With
`--schedule linear`, the rate falls to 0, batch by batch (Li et al. 2020, "Budgeted Training"). With either schedule,
the rate rises from 0 during the first `--warmup` epochs.

The model with the lowest development loss is kept. After an epoch that did not lower this loss, training continues from
the kept model (Tilk & Alumäe do not say from which model they continue). Several processes (`ranks`) make the same
updates as one process, apart from rounding and dropout. The first rank scores the development set, writes the files,
and gives its weights to all ranks at the start of each epoch.
"""

import itertools
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from punc.base.errors import InputError
from punc.base.log import progress_bar
from punc.base.options import kebab
from punc.base.processor import has_bfloat16
from punc.base.stop import held
from punc.decoding.decode import log_posteriors
from punc.models.base import Model, not_finite
from punc.noise.store_noise import StoreNoise
from punc.scoring.counts import confusion
from punc.scoring.metrics import compute_metrics
from punc.tokens.soft_targets import read_targets
from punc.tokens.store import Store
from punc.tokens.store_set import StoreSet
from punc.training import batching
from punc.training.losses import EpochLoss, Teacher, diverged
from punc.training.optim import Optimizer
from punc.training.options import TrainingOptions
from punc.training.ranks import ALONE, Ranks, sum_gradients
from punc.training.state import NOT_COMPARED, Place, Progress, Run, advance, checksums

logger = logging.getLogger(__name__)


class Epochs:
    """Trains a model, epoch by epoch. Raises InputError if the store or the model does not allow the options, or if
    ranks have different options or data."""

    def __init__(self, net: Model, store: Store, directory: Path, options: TrainingOptions, conf: dict[str, Any],
                 ranks: Ranks):
        self._net, self._options, self._ranks = net, options, ranks
        with ranks.agree():
            data = labelled(store, options.train_set)
            self._dev = labelled(store, options.dev_set)
            self._updates = Optimizer(net, options.optimizer, options.learning_rate, options.epsilon,
                                      options.weight_decay, options.max_grad_norm)
            self._tokens = len(data.ids) // options.parts  # the approximate number of tokens per epoch
            self._data: StoreSet = data
            self._cut(data)
            self._teacher = None
            if options.teacher:
                targets = read_targets(Path(options.teacher), store, options.train_set)
                self._teacher = Teacher(self._data, targets, options.teacher_weight)
                self._data = self._teacher.indexed
            sums = checksums(store, options)
            self._noise = StoreNoise(data, store, options.confusions, options.asr_noise, options.asr_noise_share,
                                     options.asr_noise_draws) if options.asr_noise else None
            # The number of the pass over the set for which the current errors were drawn; −1: none yet.
            self._reading = -1
        facts = {kebab(name): value for name, value in conf.items() if name not in (*NOT_COMPARED, "store")}
        facts |= {f"{name} (CRC-32)": value for name, value in sums.items()}
        ranks.check_same({**facts, "--device": net.device.type},
                         "start all ranks with the same options, on the same store")
        self._bfloat16 = options.bfloat16 and has_bfloat16(str(net.device))
        if self._bfloat16 != options.bfloat16:
            logger.warning("punc train: this processor has no bfloat16, so float32 is used, which takes longer")
        self._fall = options.learning_rate / options.epochs if options.schedule == "linear" else 0.0
        self._run = Run(directory, net, self._updates, conf, sums, ranks)

    def run(self) -> None:
        options, ranks = self._options, self._ranks
        progress = self._run.resume() or Progress(options.learning_rate)
        while not progress.ended and progress.epoch < options.epochs:
            loss = self._train(progress)
            seconds = self._run.seconds()
            with ranks.agree():
                if ranks.first:
                    progress = self._scored(progress, loss, seconds)
            progress = ranks.from_first(progress)
        if ranks.first and progress.best_epoch:
            logger.info("kept epoch %d: the lowest dev loss, %.5f", progress.best_epoch, progress.best_loss)

    def _cut(self, data: StoreSet) -> None:
        self._data = batching.training_set(self._net, data, self._options)
        self._chunks = batching.cut_streams(self._net, self._data, self._options, self._ranks)
        by_slot = self._options.schedule == "linear" or self._options.warmup > 0
        self._slots = batching.count_slots(self._data) / self._options.parts if by_slot else 1  # slots per epoch

    def _train(self, progress: Progress) -> float:
        net, options, ranks, number = self._net, self._options, self._ranks, progress.epoch
        torch.manual_seed(batching.epoch_seed(options, number) + ranks.rank)
        self._run.begin_epoch(progress)
        reading = number // options.parts
        if self._noise and reading != self._reading:  # each pass over the set has different errors
            self._reading = reading
            self._cut(self._noise.draw(batching.epoch_seed(options, reading)))
        batches = batching.epoch_batches(net, self._data, self._chunks, options, number, ranks, self._teacher)
        batches = batching.at_rates(batches, self._updates, progress.learning_rate, self._fall, self._slots, number,
                                    options.warmup)
        with progress_bar(f"epoch {number + 1}", "token", self._tokens) as bar:
            rest = itertools.islice(_counted(batches, bar, ranks), self._run.place.batches, None)
            with self._run.written_if_stopped(), held():  # signals take effect at the end of a batch
                return train_epoch(net.train(), self._updates, rest, self._teacher, self._bfloat16, ranks, self._run)

    def _scored(self, progress: Progress, loss: float, seconds: float) -> Progress:
        net, number = self._net, progress.epoch + 1
        with self._run.written_if_stopped():
            if name := not_finite(net.state_dict()):  # gradients may be NaN or infinite even if all losses are finite
                raise diverged(number, f"{name} has weights that are NaN or infinite")
            dev_loss, dev_f1 = evaluate(net.eval(), self._dev)
        logger.info("epoch %d: rate %g, loss %.5f, dev loss %.5f, dev F1 %.2f, %s %s/s, %.1f s", number,
                    progress.learning_rate, loss, dev_loss, dev_f1, f"{self._tokens / seconds:,.0f}",
                    "words" if net.token_type == "word" else "tokens", seconds)
        progress = advance(progress, dev_loss, self._options.min_improvement, self._fall)
        with held():
            self._run.end_epoch(progress)
        return progress


def _counted(batches: Iterator[batching.Batch], bar: Any, ranks: Ranks) -> Iterator[batching.Batch]:
    for batch in batches:
        yield batch
        bar.update(batch.tokens.numel() * ranks.size)


def train_epoch(model: Model, updates: Optimizer, batches: Iterator[batching.Batch], teacher: Teacher | None = None,
                bfloat16: bool = False, ranks: Ranks = ALONE, run: Run | None = None) -> float:
    """Train the model on the batches of an epoch, on the model's device. The model's state continues from the previous
    batch unless the batch is `fresh`.

    teacher   computes the loss from the labels and targets in the batches; None: the loss depends only on the labels
    run       saves the state from time to time; `batches` begin after the `run.place.batches` finished batches

    Returns the mean loss of the batches with slots, where a batch comprises the shares of all ranks. Raises InputError
    if a loss is NaN or infinite.
    """
    place, epoch = (run.place, run.progress.epoch) if run else (Place(), 0)
    state, device = place.state, model.device
    losses = EpochLoss(epoch + 1, device, ranks, place.steps, place.loss)
    for done, batch in enumerate(batches, place.batches + 1):
        share, has_loss = batch.share_of_slots, batch.slots > 0
        batch = batch.to(device)
        if len(batch.tokens):  # in a small batch, this rank may have no rows
            state = model.initial_state(len(batch.tokens)) if batch.fresh else tuple(s.detach() for s in state)
            with torch.autocast(device.type, torch.bfloat16, enabled=bfloat16):
                logits, state = model(batch.tokens, batch.pauses, state)
        if has_loss:
            updates.zero_grad()
            loss = None
            if share:
                logits = logits.float()
                loss = teacher.loss(model, logits, batch) if teacher else model.loss(logits, batch.labels)
                loss = loss * share if ranks.size > 1 else loss
                loss.backward()
                loss = loss.detach()
            sum_gradients(updates.dense, updates.sparse, ranks)
            updates.step()
            losses.add(loss)
        if run:
            run.after_batch(done, losses.steps, losses.total, state)
    return losses.mean()


def evaluate(model: Model, data: StoreSet) -> tuple[float, float]:
    """Return the mean loss per slot, in nats, and the overall F1 of the most probable labels, in percent."""
    assert data.labels is not None, "the set is labelled"
    log_probs = log_posteriors(model, data)
    slots = np.flatnonzero(data.labels >= 0)
    labels = data.labels[slots].astype(np.int64)
    loss = -float(log_probs[slots, labels].mean(dtype=np.float64))
    counts = confusion(labels, log_probs[slots].argmax(axis=1), np.zeros(len(slots), np.int64), 1, len(model.labels))
    return loss, float(compute_metrics(counts, model.labels)["overall.F1"][0])


def labelled(store: Store, name: str) -> StoreSet:
    """Open a set of a store. Raises InputError if the set is missing or has no labels."""
    data = store.set(name)
    if data.labels is None:
        raise InputError(f"set '{name}' has no labels", "make the store of a data directory with punct", store.path)
    return data
