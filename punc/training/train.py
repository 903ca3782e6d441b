"""The one training loop.

An epoch goes once over the training set; then the development set is scored. The learning rate stays while
that helps: once the development loss falls by less than `--min-improvement`, the rate is halved every epoch,
and when it falls by less than that again, training ends (Mikolov et al. 2011, as in Tilk & Alumäe 2015,
section 3). With `--schedule linear` it falls batch by batch, on a line that ends at 0 with the last epoch: for
as many epochs as one can afford (Li et al. 2020, Budgeted training). The model with the lowest development loss
is the one that is kept, and after an epoch that did not lower it training goes on from there; of that the paper
does not speak.

A run that was stopped continues from its last whole epoch, to the same model as an unbroken run: nothing in
an epoch depends on more than the weights, the optimiser, the seed and the epoch's number.

A model that is not trained by gradient has no epochs: it is fitted, and begins anew where it was stopped.
"""

import math
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from punc.base.bfloat16 import has_bfloat16
from punc.base.errors import InputError
from punc.base.log import hide_progress
from punc.base.memory import keep_freed_memory
from punc.base.options import kebab
from punc.decoding.decode import log_posteriors
from punc.models.base import NeuralModel, NonGradientModel, create, save
from punc.scoring.metrics import confusion, figures
from punc.tokens.batches import Batch, Chunks, by_length, cut, gather, padding, stateful
from punc.tokens.store import Store, StoreSet
from punc.training import checkpoint as on_disk
from punc.training.checkpoint import Progress, advance
from punc.training.optim import Optimizer

CHUNK = 1 << 22  # labels that are counted at once


def train(store_dir: str | os.PathLike, directory: str | os.PathLike, model: str, options: dict[str, Any], *,
          train_set: str = "train", dev_set: str = "dev", batching: str = "auto", batch_size: int = 100, bptt: int = 5,
          chunk_size: int = 256, context: int = 32, optimizer: str = "adagrad", learning_rate: float = 0.1,
          epsilon: float = 1e-10, weight_decay: float = 0.0, max_grad_norm: float = 0.0, class_weights: str = "",
          bfloat16: bool = False, epochs: int = 20, schedule: str = "halving", min_improvement: float = 0.003,
          seed: int = 1, threads: int = 0) -> None:
    """Train a model on a store; the directory gets final.pt, conf, vocab, labels.txt.

    train_set        set of the store to train on; for models not trained by gradient also several, with commas between
    dev_set          set of the store that decides on the learning rate and the best epoch
    batching         stateful (state carried on, truncated back-propagation), chunks (fresh state), or auto: by the model
    batch_size       parallel streams of a batch
    bptt             stateful: steps of back-propagation through time
    chunk_size       chunks: slots of a stream in one chunk
    context          chunks: slots around a chunk that are read and not scored
    optimizer        adagrad, adam, adamw or sgd
    learning_rate    at the beginning
    epsilon          added to AdaGrad's and Adam's denominators
    weight_decay     of dense weights
    max_grad_norm    largest norm of the gradient; 0: any
    class_weights    LABEL=WEIGHT[,LABEL=WEIGHT]: weights of labels in the loss; 1 for the others
    bfloat16         whether matrix products are of such numbers; float32 all the same on processors without them
    epochs           at most; all of them with a linear schedule
    schedule         of the learning rate: halving, by the dev loss, or linear, to 0 over the epochs
    min_improvement  halving: relative fall of the dev loss below which the rate is halved
    seed             of weights and order
    threads          of PyTorch; 0: as many as cores

    Raises InputError for a store or options that do not fit, and where the directory holds a model that was
    trained with other options.
    """
    settings = {name: value for name, value in locals().items() if name in train.__kwdefaults__}
    _check(settings)
    directory, conf = Path(directory), {"model": model, **options, **settings, "store": os.fspath(store_dir)}
    if on_disk.finished(directory, conf, train.__kwdefaults__):
        print(f"punc train: {directory / 'final.pt'} is finished", file=sys.stderr)
        return
    store = Store(store_dir)
    torch.set_num_threads(threads or len(os.sched_getaffinity(0)))
    keep_freed_memory()
    torch.manual_seed(seed)
    net = create(model, store.vocabulary, store.labels, options, store.tokenizer)
    if isinstance(net, NonGradientModel):
        _fit(net, store, directory, conf)
        return
    data, dev = labelled(store, train_set), labelled(store, dev_set)
    weights = parse_weights(class_weights, store)
    updates = Optimizer(net, optimizer, learning_rate, epsilon, weight_decay)
    chunks = _chunks(net, data, batching, chunk_size, context)
    if chunks:
        print(f"{train_set}: {len(chunks.stream):,} pieces, {padding(chunks, batch_size):.1%} of the steps are padding",
              file=sys.stderr, flush=True)
    if bfloat16 and not has_bfloat16():
        print("punc train: this processor has no bfloat16; float32 takes longer", file=sys.stderr, flush=True)
        bfloat16 = False
    slots, fall = (_slots(data), learning_rate / epochs) if schedule == "linear" else (1, 0.0)
    progress = on_disk.resume(directory, net, updates, conf, train.__kwdefaults__) or Progress(learning_rate)
    while not progress.ended and progress.epoch < epochs:
        begin = time.perf_counter()
        epoch_seed = seed + 1000003 * (progress.epoch + 1)  # the same however the epoch was reached
        torch.manual_seed(epoch_seed)
        batches = _batches(net, data, chunks, batch_size, bptt, epoch_seed)
        batches = _at_rates(batches, updates, progress.learning_rate, fall, slots)
        with tqdm(desc=f"epoch {progress.epoch + 1}", total=len(data.ids), unit="token", unit_scale=True, leave=False,
                  delay=2, disable=hide_progress()) as bar:
            loss = _epoch(net.train(), updates, _counted(batches, bar), weights, max_grad_norm, bfloat16)
        seconds = time.perf_counter() - begin
        dev_loss, dev_f1 = evaluate(net.eval(), dev)
        what = "words" if net.token_type == "word" else "tokens"
        print(f"epoch {progress.epoch + 1}: rate {progress.learning_rate:g}, loss {loss:.5f}, dev loss {dev_loss:.5f}, "
              f"dev F1 {dev_f1:.2f}, {len(data.ids) / seconds:,.0f} {what}/s, {seconds:.1f} s",
              file=sys.stderr, flush=True)
        progress = advance(progress, dev_loss, min_improvement, fall)
        on_disk.keep(directory, net, updates, progress, conf)
    on_disk.finish(directory, net, conf)


def _fit(net: NonGradientModel, store: Store, directory: Path, conf: dict[str, Any]) -> None:
    """Fit a model that is not trained by gradient, and write its directory."""
    for name, value in train.__kwdefaults__.items():
        if name not in ("train_set", "dev_set", "seed", "threads") and conf[name] != value:
            raise InputError(f"{kebab(name)}={conf[name]}, but {conf['model']} is not trained by gradient",
                             "leave the option out")
    begin = time.perf_counter()
    sets = conf["train_set"].split(",")
    dev = labelled(store, conf["dev_set"])
    for name in sets:
        labelled(store, name)
    net.fit(store, sets, conf["dev_set"], conf["seed"])
    dev_loss, dev_f1 = evaluate(net, dev)
    print(f"dev loss {dev_loss:.5f}, dev F1 {dev_f1:.2f}, {time.perf_counter() - begin:.1f} s", file=sys.stderr)
    directory.mkdir(parents=True, exist_ok=True)
    save(net, directory / "best.pt", conf=conf, dev_loss=dev_loss)
    on_disk.finish(directory, net, conf)


def _check(settings: dict[str, Any]) -> None:
    if settings["schedule"] not in ("halving", "linear"):
        raise InputError(f"--schedule {settings['schedule']}", "choose from halving, linear")
    counts = "batch_size", "bptt", "chunk_size", "epochs"
    for name in (*counts, "context", "learning_rate", "epsilon", "weight_decay", "max_grad_norm", "min_improvement", "threads"):
        least = 1 if name in counts else 0
        if not settings[name] >= least:  # NaN too
            raise InputError(f"{kebab(name)}={settings[name]}", f"it is at least {least}")


def evaluate(model: NeuralModel | NonGradientModel, data: StoreSet) -> tuple[float, float]:
    """Mean loss per slot in nats, and overall F1 in percent of each slot's own best label, on a labelled set."""
    log_probs = log_posteriors(model, data)
    slots = np.flatnonzero(data.labels >= 0)
    labels = data.labels[slots].astype(np.int64)
    loss = -float(log_probs[slots, labels].mean(dtype=np.float64))
    counts = confusion(labels, log_probs[slots].argmax(axis=1), np.zeros(len(slots), np.int64), 1, len(model.labels))
    return loss, float(figures(counts, model.labels)["overall.F1"][0])


def labelled(store: Store, name: str) -> StoreSet:
    """A set of a store that has labels. Raises InputError for one that has none."""
    data = store.set(name)
    if data.labels is None:
        raise InputError(f"set '{name}' has no labels", "make the store of a data directory with punct", store.path)
    return data


def parse_weights(text: str, store: Store) -> torch.Tensor | None:
    """`LABEL=WEIGHT,…` as a weight for each label, (L,); None for an empty text."""
    weights = torch.ones(len(store.labels))
    for item in text.split(",") if text else ():
        name, _, value = item.partition("=")
        try:
            weight = weights[store.labels.index(name)] = float(value)
            if not 0 <= weight < math.inf:
                raise ValueError
        except (KeyError, ValueError):
            raise InputError(f"--class-weights: '{item}' is not LABEL=WEIGHT",
                             f"labels are {' '.join(store.labels.names)}") from None
    return weights if text else None


def _chunks(model: NeuralModel, data: StoreSet, batching: str, chunk_size: int, context: int) -> Chunks | None:
    """How the streams are cut; None: they are not, but go in lanes."""
    if batching not in ("auto", "stateful", "chunks"):
        raise InputError(f"--batching {batching}", "choose from auto, stateful, chunks")
    if batching == "stateful" and model.lookahead is None:
        raise InputError("a model that reads whole texts cannot train statefully", "leave --batching out")
    in_lanes = model.lookahead is not None and batching != "chunks"
    return None if in_lanes else cut(data.offsets, model.lookahead, chunk_size, context)


def _batches(model: NeuralModel, data: StoreSet, chunks: Chunks | None, batch_size: int, bptt: int,
             seed: int) -> Iterator[Batch]:
    if chunks is None:
        return stateful(data, model.lookahead, batch_size, bptt)
    return (gather(data, chunks, group, model.lookahead)
            for group in by_length(chunks, batch_size, np.random.default_rng(seed)))


def _slots(data: StoreSet) -> int:
    """The slots that are learned from, 1 at least; of a large store some labels are in memory at a time."""
    starts = range(0, len(data.labels), CHUNK)
    return max(sum(int(np.count_nonzero(data.labels[start:start + CHUNK] >= 0)) for start in starts), 1)


def _at_rates(batches: Iterator[Batch], updates: Optimizer, rate: float, fall: float, slots: int) -> Iterator[Batch]:
    """The batches of an epoch of so many slots; over it the learning rate falls from `rate` by `fall`."""
    done = 0
    for batch in batches:
        updates.set_learning_rate(rate - fall * done / slots)
        yield batch
        done += int((batch.labels >= 0).sum())


def _counted(batches: Iterator[Batch], bar: tqdm) -> Iterator[Batch]:
    """The batches; their tokens, padding included, advance the progress bar."""
    for batch in batches:
        yield batch
        bar.update(batch.tokens.numel())


def _epoch(model: NeuralModel, updates: Optimizer, batches: Iterator[Batch], weights: torch.Tensor | None,
           max_grad_norm: float, bfloat16: bool = False) -> float:
    """Train on batches, with the state carried between those that follow each other; the mean loss of a batch."""
    state, total, count = (), torch.zeros(()), 0
    for batch in batches:
        state = model.initial_state(len(batch.tokens)) if batch.fresh else tuple(s.detach() for s in state)
        with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
            logits, state = model(batch.tokens, batch.pauses, state)
        if (batch.labels < 0).all():  # a mean over no slots
            continue
        loss = model.loss(logits.float(), batch.labels, weights)
        updates.zero_grad()
        loss.backward()
        updates.step(max_grad_norm)
        total += loss.detach()
        count += 1
    return float(total) / max(count, 1)
