"""The training loop.

An epoch reads the training set once; then the development set is scored. The learning rate stays as long as that helps:
once the development loss falls by less than `--min-improvement`, the rate is halved after every epoch, and when the
loss falls by less than that again, training ends (Mikolov et al. 2011, as in Tilk & Alumäe 2015, section 3). With
`--schedule linear` the rate falls with every batch, on a line that reaches 0 at the end of the last epoch: for as many
epochs as one can afford (Li et al. 2020, Budgeted training). With `--warmup` it first rises from 0, batch by batch. The
model with the lowest development loss is kept; with `--keep f1`, the one with the highest development F1. After an
epoch that did not lower the loss, training continues from the model with the lowest loss; the paper does not say.

A stopped run continues from its last complete epoch, and ends with the same model as an unbroken run: an epoch depends
only on the weights, the state of the optimiser, the seed and the epoch's number.

Several processes, the ranks, can train one model (`ranks`). Each has a share of the rows of every batch, and the sum of
their gradients is the gradient of the whole batch, so they make the same updates as one process, up to rounding and
dropout. The first rank scores the development set and writes the files; an epoch then begins with its weights.

A model that is not trained by gradient has no epochs. It is fitted, by one process; a stopped run starts again.
"""

import contextlib
import logging
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from punc.base.bfloat16 import has_bfloat16
from punc.base.errors import InputError
from punc.base.lock import lock_directory
from punc.base.log import hide_progress
from punc.base.memory import keep_freed_memory
from punc.models.base import Model, State, create, load, model_class, not_finite, save
from punc.tokens.batches import Batch
from punc.tokens.store import Store
from punc.training import checkpoint
from punc.training.asr_noise import AsrNoise
from punc.training.batching import (
    at_rates,
    count_slots,
    cut_streams,
    epoch_batches,
    epoch_seed,
    loss_share,
    slots_of,
    training_set,
)
from punc.training.checkpoint import Progress, advance
from punc.training.evaluate import evaluate, labelled
from punc.training.gradients import sum_gradients
from punc.training.losses import EpochLoss, check_weights
from punc.training.optim import Optimizer
from punc.training.options import TrainingOptions, check_non_gradient, parse_weights, run_conf
from punc.training.prefetch import prefetch
from punc.training.ranks import ALONE, Ranks, find_ranks
from punc.training.store_state import check_finished, checksums
from punc.training.teacher import Teacher

logger = logging.getLogger(__name__)


def train(store_dir: str | os.PathLike, directory: str | os.PathLike, model: str, model_options: Mapping[str, Any],
          options: TrainingOptions) -> None:
    """Train a model on a store. Writes final.pt, conf, labels.txt and the tokenizer's files to the directory.

    A finished run started again does nothing. If torchrun has started several processes, they train together.

    Raises InputError if the store or the options do not fit, if the directory has a model that was trained with other
    options, or if another process trains there. Where another rank has such an error, raises SystemExit.
    """
    directory, conf = Path(directory), run_conf(model, model_options, options, store_dir)
    ranks, by_gradient = find_ranks(), model_class(model).trained_by_gradient
    if not by_gradient:
        if not ranks.first:
            return
        ranks = ALONE
    with ranks.join(), contextlib.ExitStack() as stack:
        with ranks.agree():
            # without the lock: the directory may be read-only
            finished = ranks.first and _finished(directory, conf, store_dir, options)
        if ranks.from_first(finished):
            return
        with ranks.agree():
            # A GPU that is missing is an error before anything is made.
            device = ranks.device(options.device) if by_gradient else "cpu"
            if ranks.first:
                stack.enter_context(lock_directory(directory))
                finished = _finished(directory, conf, store_dir, options)  # by the process that had the lock
        if not ranks.from_first(finished):
            _train(store_dir, directory, model, model_options, options, conf, device, ranks)


def _finished(directory: Path, conf: dict[str, Any], store_dir: str | os.PathLike, options: TrainingOptions) -> bool:
    """Whether the run is finished; says so. Raises InputError if the store is there, and is no longer the model's."""
    finished = checkpoint.finished(directory, conf)
    if finished:
        check_finished(directory, store_dir, options)
        logger.info("punc train: %s is finished", directory / "final.pt")
    return finished


def _train(store_dir: str | os.PathLike, directory: Path, model: str, model_options: Mapping[str, Any],
           options: TrainingOptions, conf: dict[str, Any], device: str, ranks: Ranks) -> None:
    """Train to the end, from where the run was stopped."""
    torch.set_num_threads(options.threads or ranks.threads())
    keep_freed_memory()
    torch.manual_seed(options.seed)
    with ranks.agree():
        store = Store(store_dir)
        net = create(model, store.vocabulary, store.labels, dict(model_options), store.tokenizer)
    if not net.trained_by_gradient:
        check_non_gradient(model, options)
        _fit(net, store, directory, options, conf)
    else:
        if options.initial_model:
            start_from(net, options.initial_model)
        _train_epochs(net.to(device), store, directory, options, conf, ranks)
    with ranks.agree():
        if ranks.first:
            checkpoint.finish(directory, net, conf)


def start_from(net: Model, directory: str) -> None:
    """Copy the weights of a trained model. Raises InputError if it has another architecture, vocabulary or sizes."""
    other = load(directory)
    try:
        if other.spec["model"] != net.spec["model"] or other.vocabulary.tokens != net.vocabulary.tokens \
                or other.labels != net.labels:
            raise ValueError
        net.load_state_dict(other.state_dict())
    except (RuntimeError, ValueError):
        raise InputError(f"--initial-model={directory} has another architecture, other words, labels or sizes",
                         f"make the store with --vocab {directory}/vocab, and give the options of its conf") from None


def _fit(net: Model, store: Store, directory: Path, options: TrainingOptions, conf: dict[str, Any]) -> None:
    """Fit a model that is not trained by gradient, and write it as the best one."""
    begin = time.perf_counter()
    sets = options.train_set.split(",")
    dev = labelled(store, options.dev_set)
    for name in sets:
        labelled(store, name)
    net.fit(store, sets, options.dev_set, options.seed)
    if bad := not_finite(net.state_dict()):
        raise InputError(f"{bad} has numbers that are NaN or infinite", "change the model's options, or its text")
    dev_loss, dev_f1 = evaluate(net, dev)
    logger.info("dev loss %.5f, dev F1 %.2f, %.1f s", dev_loss, dev_f1, time.perf_counter() - begin)
    directory.mkdir(parents=True, exist_ok=True)
    save(net, directory / "best.pt", conf=conf, store=checksums(store, options), dev_loss=dev_loss)


def _train_epochs(net: Model, store: Store, directory: Path, options: TrainingOptions, conf: dict[str, Any],
                  ranks: Ranks) -> None:
    """Train a model epoch by epoch, from the last one that is on disk."""
    with ranks.agree():
        data, dev = training_set(net, labelled(store, options.train_set), options), labelled(store, options.dev_set)
        weights = parse_weights(options.class_weights, store.labels)
        if weights is not None:  # some losses cannot have them
            net.loss(torch.zeros(1, 1, len(weights), device=net.device), torch.zeros(1, 1, dtype=torch.int64,
                                                                                    device=net.device), weights)
        teacher = Teacher.find(store, data, options)
        updates = Optimizer(net, options.optimizer, options.learning_rate, options.epsilon, options.weight_decay)
        chunks = cut_streams(net, data, options, ranks)
        sums = checksums(store, options)
        if teacher:
            data = teacher.indexed
        noise = AsrNoise(labelled(store, options.train_set), store, options) if options.asr_noise else None
    ranks.check_same({**checkpoint.compared(conf), **{f"{name} (CRC-32)": value for name, value in sums.items()},
                      "--device": net.device.type},
                     "start all ranks with the same options, on the same store")
    bfloat16 = options.bfloat16 and has_bfloat16(str(net.device))
    if bfloat16 != options.bfloat16:
        logger.warning("punc train: this processor has no bfloat16; float32 takes longer")
    fall = options.learning_rate / options.epochs if options.schedule == "linear" else 0.0
    by_slot = fall > 0 or options.warmup > 0  # the rate depends on how many there are
    slots = count_slots(data) / options.parts if by_slot else 1
    tokens = len(data.ids) // options.parts  # of an epoch, about
    progress = _resume(net, updates, directory, conf, sums, ranks) or Progress(options.learning_rate)
    what = "words" if net.token_type == "word" else "tokens"
    while not progress.ended and progress.epoch < options.epochs:
        begin = time.perf_counter()
        torch.manual_seed(epoch_seed(options, progress.epoch) + ranks.rank)
        ranks.copy_weights(net)
        if noise and (noisy := noise.of_epoch(progress.epoch)):
            data = training_set(net, noisy, options)
            chunks = cut_streams(net, data, options, ranks)
            slots = count_slots(data) / options.parts if by_slot else 1
        batches = prefetch(epoch_batches(net, data, chunks, options, progress.epoch, ranks, teacher), net.device)
        batches = at_rates(batches, updates, progress.learning_rate, fall, slots, progress.epoch, options.warmup)
        with tqdm(desc=f"epoch {progress.epoch + 1}", total=tokens, unit="token", unit_scale=True, leave=False,
                  delay=2, disable=hide_progress()) as bar:
            loss = train_epoch(net.train(), updates, _counted(batches, bar, ranks), weights, options.max_grad_norm,
                               bfloat16, ranks, progress.epoch + 1, teacher)
        seconds = time.perf_counter() - begin
        with ranks.agree():
            if ranks.first:
                check_weights(net, progress.epoch + 1)
                dev_loss, dev_f1 = evaluate(net.eval(), dev)
                logger.info("epoch %d: rate %g, loss %.5f, dev loss %.5f, dev F1 %.2f, %s %s/s, %.1f s",
                            progress.epoch + 1, progress.learning_rate, loss, dev_loss, dev_f1,
                            f"{tokens / seconds:,.0f}", what, seconds)
                progress = advance(progress, dev_loss, options.min_improvement, fall, dev_f1)
                checkpoint.keep(directory, net, updates, progress, conf, sums)
        progress = ranks.from_first(progress)
    if ranks.first and progress.epoch:
        logger.info("%s", checkpoint.kept_epoch(progress, options.keep))


def _resume(net: Model, updates: Optimizer, directory: Path, conf: dict[str, Any], sums: Mapping[str, int],
            ranks: Ranks) -> Progress | None:
    """The progress that is on disk, and for each rank the model and the optimiser of then; None if there is none."""
    progress = None
    with ranks.agree():
        if ranks.first:
            progress = checkpoint.resume(directory, net, updates, conf, sums)
    progress = ranks.from_first(progress)
    if progress and ranks.size > 1:  # the weights follow when the epoch begins
        state = ranks.from_first(updates.state_dict())
        if not ranks.first:
            updates.load_state_dict(state)
    return progress


def _counted(batches: Iterator[Batch], bar: tqdm, ranks: Ranks) -> Iterator[Batch]:
    """The batches; their tokens, padding and the other ranks' included, advance the progress bar."""
    for batch in batches:
        yield batch
        bar.update(batch.tokens.numel() * ranks.size)


def train_epoch(model: Model, updates: Optimizer, batches: Iterator[Batch], weights: torch.Tensor | None,
                max_grad_norm: float, bfloat16: bool = False, ranks: Ranks = ALONE,
                epoch: int = 1, teacher: Teacher | None = None) -> float:
    """Train on batches, on the device of the model. The state goes on from a batch to the one that follows it.

    Returns the mean loss of a batch. Raises InputError if a loss is NaN or infinite.

    weights         (L,), of each label in the loss; None: all 1
    max_grad_norm   largest norm of the gradient; 0: no limit
    bfloat16        whether matrix products are in bfloat16
    ranks           share the batches; updates and loss are those of the whole batches
    epoch           its number, from 1, for errors
    teacher         has made the batches, and knows their loss; None: the loss is that of the labels
    """
    state: State = ()
    device = model.device
    losses = EpochLoss(epoch, device, ranks)
    device_weights = None if weights is None else weights.to(device)
    for batch in batches:
        share, has_loss = loss_share(batch, weights), slots_of(batch) > 0
        batch = batch.to(device)
        if len(batch.tokens):  # a rank may have no row of a small batch
            state = model.initial_state(len(batch.tokens)) if batch.fresh else tuple(s.detach() for s in state)
            with torch.autocast(device.type, torch.bfloat16, enabled=bfloat16):
                logits, state = model(batch.tokens, batch.pauses, state)
        if not has_loss:
            continue
        updates.zero_grad()
        loss = None
        if share:
            loss = teacher.loss(model, logits.float(), batch) if teacher else \
                model.loss(logits.float(), batch.labels, device_weights)
            if ranks.size > 1:
                loss = loss * share
            loss.backward()
            loss = loss.detach()
        sum_gradients(updates.dense, updates.sparse, ranks)
        updates.step(max_grad_norm)
        losses.add(loss)
    return losses.mean()
