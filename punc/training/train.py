"""The training loop.

An epoch reads the training set once; then the development set is scored. The learning rate stays as long as that
helps: once the development loss falls by less than `--min-improvement`, the rate is halved after every epoch, and when
the loss falls by less than that again, training ends (Mikolov et al. 2011, as in Tilk & Alumäe 2015, section 3). With
`--schedule linear` the rate falls with every batch, on a line that reaches 0 at the end of the last epoch: for as many
epochs as one can afford (Li et al. 2020, Budgeted training). The model with the lowest development loss is kept. After
an epoch that did not lower the loss, training continues from that model; the paper does not say.

A stopped run continues from its last complete epoch, and ends with the same model as an unbroken run: an epoch depends
only on the weights, the state of the optimiser, the seed and the epoch's number.

A model that is not trained by gradient has no epochs. It is fitted; a stopped run starts again.
"""

import logging
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from punc.base.bfloat16 import has_bfloat16
from punc.base.device import find_device
from punc.base.lock import lock_directory
from punc.base.log import hide_progress
from punc.base.memory import keep_freed_memory
from punc.models.base import Model, State, create, model_class, save
from punc.tokens.batches import Batch
from punc.tokens.store import Store
from punc.training import checkpoint
from punc.training.batching import at_rates, count_slots, cut_streams, epoch_batches
from punc.training.checkpoint import Progress, advance
from punc.training.evaluate import evaluate, labelled
from punc.training.optim import Optimizer
from punc.training.options import TrainingOptions, check_non_gradient, parse_weights, run_conf
from punc.training.prefetch import prefetch

logger = logging.getLogger(__name__)


def train(store_dir: str | os.PathLike, directory: str | os.PathLike, model: str, model_options: Mapping[str, Any],
          options: TrainingOptions) -> None:
    """Train a model on a store. Writes final.pt, conf, labels.txt and the tokenizer's files to the directory.

    A finished run started again does nothing. Raises InputError if the store or the options do not fit, if the
    directory has a model that was trained with other options, or if another process trains there.
    """
    directory, conf = Path(directory), run_conf(model, model_options, options, store_dir)
    if _finished(directory, conf):  # without the lock: the directory may be read-only
        return
    if model_class(model).trained_by_gradient:
        find_device(options.device)  # a GPU that is missing is an error before anything is made
    with lock_directory(directory):
        if not _finished(directory, conf):  # by the process that had the lock
            _train(Store(store_dir), directory, model, model_options, options, conf)


def _finished(directory: Path, conf: dict[str, Any]) -> bool:
    """Whether the run is finished; says so."""
    finished = checkpoint.finished(directory, conf)
    if finished:
        logger.info("punc train: %s is finished", directory / "final.pt")
    return finished


def _train(store: Store, directory: Path, model: str, model_options: Mapping[str, Any], options: TrainingOptions,
           conf: dict[str, Any]) -> None:
    """Train to the end, from where the run was stopped."""
    torch.set_num_threads(options.threads or len(os.sched_getaffinity(0)))
    keep_freed_memory()
    torch.manual_seed(options.seed)
    net = create(model, store.vocabulary, store.labels, dict(model_options), store.tokenizer)
    if not net.trained_by_gradient:
        check_non_gradient(model, options)
        _fit(net, store, directory, options, conf)
    else:
        _train_epochs(net.to(find_device(options.device)), store, directory, options, conf)
    checkpoint.finish(directory, net, conf)


def _fit(net: Model, store: Store, directory: Path, options: TrainingOptions, conf: dict[str, Any]) -> None:
    """Fit a model that is not trained by gradient, and write it as the best one."""
    begin = time.perf_counter()
    sets = options.train_set.split(",")
    dev = labelled(store, options.dev_set)
    for name in sets:
        labelled(store, name)
    net.fit(store, sets, options.dev_set, options.seed)
    dev_loss, dev_f1 = evaluate(net, dev)
    logger.info("dev loss %.5f, dev F1 %.2f, %.1f s", dev_loss, dev_f1, time.perf_counter() - begin)
    directory.mkdir(parents=True, exist_ok=True)
    save(net, directory / "best.pt", conf=conf, dev_loss=dev_loss)


def _train_epochs(net: Model, store: Store, directory: Path, options: TrainingOptions, conf: dict[str, Any]) -> None:
    """Train a model epoch by epoch, from the last one that is on disk."""
    data, dev = labelled(store, options.train_set), labelled(store, options.dev_set)
    weights = parse_weights(options.class_weights, store.labels)
    updates = Optimizer(net, options.optimizer, options.learning_rate, options.epsilon, options.weight_decay)
    chunks = cut_streams(net, data, options)
    bfloat16 = options.bfloat16 and has_bfloat16(str(net.device))
    if bfloat16 != options.bfloat16:
        logger.warning("punc train: this processor has no bfloat16; float32 takes longer")
    linear = options.schedule == "linear"
    slots, fall = (count_slots(data), options.learning_rate / options.epochs) if linear else (1, 0.0)
    sums = store.checksums({options.train_set, options.dev_set})
    progress = checkpoint.resume(directory, net, updates, conf, sums) or Progress(options.learning_rate)
    what = "words" if net.token_type == "word" else "tokens"
    while not progress.ended and progress.epoch < options.epochs:
        begin = time.perf_counter()
        seed = options.seed + 1000003 * (progress.epoch + 1)  # the same in a run that was stopped before this epoch
        torch.manual_seed(seed)
        batches = prefetch(epoch_batches(net, data, chunks, options, seed), net.device)
        batches = at_rates(batches, updates, progress.learning_rate, fall, slots)
        with tqdm(desc=f"epoch {progress.epoch + 1}", total=len(data.ids), unit="token", unit_scale=True, leave=False,
                  delay=2, disable=hide_progress()) as bar:
            loss = train_epoch(net.train(), updates, _counted(batches, bar), weights, options.max_grad_norm, bfloat16)
        seconds = time.perf_counter() - begin
        dev_loss, dev_f1 = evaluate(net.eval(), dev)
        logger.info("epoch %d: rate %g, loss %.5f, dev loss %.5f, dev F1 %.2f, %s %s/s, %.1f s", progress.epoch + 1,
                    progress.learning_rate, loss, dev_loss, dev_f1, f"{len(data.ids) / seconds:,.0f}", what, seconds)
        progress = advance(progress, dev_loss, options.min_improvement, fall)
        checkpoint.keep(directory, net, updates, progress, conf, sums)


def _counted(batches: Iterator[Batch], bar: tqdm) -> Iterator[Batch]:
    """The batches; their tokens, padding included, advance the progress bar."""
    for batch in batches:
        yield batch
        bar.update(batch.tokens.numel())


def train_epoch(model: Model, updates: Optimizer, batches: Iterator[Batch], weights: torch.Tensor | None,
                max_grad_norm: float, bfloat16: bool = False) -> float:
    """Train on batches, on the device of the model. The state goes on from a batch to the one that follows it.

    Returns the mean loss of a batch.

    weights         (L,), of each label in the loss; None: all 1
    max_grad_norm   largest norm of the gradient; 0: no limit
    bfloat16        whether matrix products are in bfloat16
    """
    state: State = ()
    device = model.device
    weights = None if weights is None else weights.to(device)
    total, count = torch.zeros((), device=device), 0
    for batch in batches:
        has_slots = bool((batch.labels >= 0).any())
        batch = batch.to(device)
        state = model.initial_state(len(batch.tokens)) if batch.fresh else tuple(s.detach() for s in state)
        with torch.autocast(device.type, torch.bfloat16, enabled=bfloat16):
            logits, state = model(batch.tokens, batch.pauses, state)
        if not has_slots:  # there is no loss
            continue
        loss = model.loss(logits.float(), batch.labels, weights)
        updates.zero_grad()
        loss.backward()
        updates.step(max_grad_norm)
        total += loss.detach()
        count += 1
    return float(total) / max(count, 1)
