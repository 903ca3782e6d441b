"""Saves the state of a training run, so that a stopped run can continue.

During training, the directory of a model has these files:

    best.pt       the model with the lowest development loss
    progress.pt   the state after the last complete epoch, from which the next epoch starts
    epoch.pt      the state within the current epoch, and the progress of each rank in this epoch

epoch.pt is written every SECONDS seconds, and when Ctrl-C or SIGTERM stops a run with one rank. It is removed after the
development set has been scored. At the end, the directory has final.pt, conf, labels.txt and the tokenizer's files.
"""

import contextlib
import math
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from punc.base.errors import InputError
from punc.base.files import atomic_file
from punc.base.options import kebab
from punc.base.stop import Stopped, received
from punc.models.base import Model, State, cpu_weights, option_defaults, read_checkpoint, save
from punc.tokens.soft_targets import targets_checksums
from punc.tokens.store import Store, crc32_of
from punc.training.losses import diverged
from punc.training.optim import Optimizer
from punc.training.options import TrainingOptions
from punc.training.ranks import ALONE, Ranks

FORMAT = "punc progress 2"
BEST, PROGRESS, EPOCH, FINAL = "best.pt", "progress.pt", "epoch.pt", "final.pt"
SECONDS = 600.0  # s; at most about this much training is lost if a process is killed or one of several ranks is stopped
BATCHES = 100  # the number of batches after which several ranks check together whether SECONDS have passed
# A run can continue with a different number of threads or on a different device, although the last bits of the weights
# may then differ, because PyTorch adds in a different order.
NOT_COMPARED = ("threads", "device")


class Progress(NamedTuple):
    learning_rate: float
    epoch: int = 0  # the number of complete epochs
    halving: bool = False
    last_loss: float = math.inf
    best_loss: float = math.inf
    ended: bool = False
    best_epoch: int = 0  # the number of the epoch with the lowest loss, from 1; 0: no epoch yet


class Place(NamedTuple):
    """The progress of a rank within an epoch."""

    batches: int = 0  # the number of finished batches
    seconds: float = 0.0  # the training time of the finished batches
    steps: int = 0  # the number of finished batches with a loss
    loss: Tensor | None = None  # the sum of the losses, shape (); None stands for 0
    state: State = ()  # the model's state after the finished batches


def advance(progress: Progress, dev_loss: float, min_improvement: float, fall: float = 0.0) -> Progress:
    """Return the progress after an epoch with this development loss. The learning rate is halved as the module
    `epochs` describes or, with a linear schedule, reduced by `fall`. Raises InputError if the loss is not finite."""
    if not math.isfinite(dev_loss):
        raise diverged(progress.epoch + 1, f"the development loss is {dev_loss}")
    after = progress._replace(epoch=progress.epoch + 1, last_loss=dev_loss)
    if dev_loss <= progress.best_loss:
        after = after._replace(best_loss=dev_loss, best_epoch=after.epoch)
    if fall:
        return after._replace(learning_rate=progress.learning_rate - fall)
    stalled = dev_loss > progress.best_loss * (1 - min_improvement)
    halving = progress.halving or stalled
    return after._replace(learning_rate=progress.learning_rate * (0.5 if halving else 1.0), halving=halving,
                          ended=stalled and progress.halving)


class Run:
    """Saves and restores a training run in a directory. All ranks must call `resume`, `begin_epoch` and `after_batch`,
    because these wait for all ranks. Only the first rank calls `end_epoch`. The first rank raises InputError if the
    saved files are broken or belong to a different conf or store.

    conf    the result of `options.run_conf`
    store   the checksums of the files on which training depends
    place   the progress of this rank in the current epoch
    """

    def __init__(self, directory: Path, net: Model, updates: Optimizer, conf: dict[str, Any], store: Mapping[str, int],
                 ranks: Ranks = ALONE):
        self.directory, self.conf, self.ranks = directory, conf, ranks
        self._net, self._updates, self._store = net, updates, dict(store)
        self.progress, self.place = Progress(0.0), Place()
        self._begin = self._written = 0.0

    def resume(self) -> Progress | None:
        """Restore the state that was saved after the last complete epoch. Returns the progress, or None if no epoch is
        complete."""
        progress = None
        with self.ranks.agree():
            content = self._read(PROGRESS) if self.ranks.first else None
            if content:
                progress = self._restore(content)
        progress = self.ranks.from_first(progress)
        if progress:  # copy only the optimizer's state; `begin_epoch` copies the weights
            self.ranks.copy_state(self._updates)
        return progress

    def begin_epoch(self, progress: Progress) -> None:
        """Begin the epoch after `progress`. If a run with the same number of ranks has saved its state in this epoch,
        continue from that state."""
        self.progress, self.place, places = progress, Place(), None
        with self.ranks.agree():
            content = self._read(EPOCH) if self.ranks.first else None
            if content and content["progress"][1] == progress.epoch and len(content["places"]) == self.ranks.size:
                self._restore(content)
                places = content["places"]
        places = self.ranks.from_first(places)
        self.ranks.copy_weights(self._net)
        if places:
            self.ranks.copy_state(self._updates)
            own, device = places[self.ranks.rank], self._net.device
            torch.set_rng_state(own["random"]["cpu"])
            if device.type != "cpu" and device.type in own["random"]:  # missing if the device type has changed
                torch.cuda.set_rng_state(own["random"][device.type], device)
            place = Place(*own["place"])
            self.place = place._replace(state=tuple(part.to(device) for part in place.state))
        self._written = time.perf_counter()
        self._begin = self._written - self.place.seconds

    def seconds(self) -> float:
        """Return the training time of this epoch so far in seconds, including the time before the run was stopped."""
        return time.perf_counter() - self._begin

    def after_batch(self, batches: int, steps: int, loss: Tensor, state: State) -> None:
        """Write the state if SECONDS seconds have passed since it was last written; several ranks check this only every
        BATCHES batches. Raises Stopped if a signal has arrived during the batch."""
        self.place = Place(batches, self.seconds(), steps, loss, state)
        if stopped := received():
            raise stopped
        looks = self.ranks.size == 1 or batches % BATCHES == 0
        if looks and self.ranks.from_first(time.perf_counter() - self._written >= SECONDS):
            self._write_place()

    @contextlib.contextmanager
    def written_if_stopped(self) -> Iterator[None]:
        """If the block raises Stopped and the run has only one rank, write the state. The block may raise Stopped only
        between two batches."""
        try:
            yield
        except Stopped:
            # Several ranks write nothing: torchrun is ending them, so they can no longer agree on a batch.
            if self.ranks.size == 1 and self.place.batches:
                self._write_place()
            raise

    def end_epoch(self, progress: Progress) -> None:
        """Write the state after an epoch. Writes the model if it is the best so far; otherwise restores the best model.

        The model is written before the state, so a run that is killed between the two repeats the epoch.
        """
        if progress.last_loss == progress.best_loss:
            save(self._net, self.directory / BEST, conf=self.conf, store=self._store, epoch=progress.epoch,
                 dev_loss=progress.last_loss)
        else:
            self._net.load_state_dict(read_checkpoint(self.directory / BEST)["weights"])
        self._write(PROGRESS, progress, [])
        (self.directory / EPOCH).unlink(missing_ok=True)

    def _write_place(self) -> None:
        place = self.place
        assert place.loss is not None, "a batch is done"
        place = place._replace(loss=place.loss.cpu(), state=tuple(part.detach().cpu() for part in place.state))
        places = self.ranks.gather({"place": tuple(place), "random": random_state(self._net.device)})
        with self.ranks.agree():
            if self.ranks.first:
                self._write(EPOCH, self.progress, places)
        self._written = time.perf_counter()

    def _write(self, name: str, progress: Progress, places: list[dict[str, Any]]) -> None:
        with atomic_file(self.directory / name, "wb") as file:
            torch.save({"format": FORMAT, "conf": self.conf, "store": self._store, "progress": tuple(progress),
                        "places": places, "weights": cpu_weights(self._net),
                        "optimizer": self._updates.state_dict()}, file)

    def _read(self, name: str) -> dict[str, Any] | None:
        path = self.directory / name
        if not path.exists():
            return None
        content = read_checkpoint(path, FORMAT)
        check_conf(content, path, self.conf)
        if not {"store", "weights", "optimizer", "progress"} <= set(content) or not isinstance(content["store"], dict):
            raise InputError("not the state of a training run", "remove it to train from the beginning", path)
        if changed_file := changed(content["store"], self._store):
            raise InputError(f"the file has changed since the training in {self.directory} began",
                             "remove that directory to start again, or restore the store",
                             Path(self.conf["store"]) / changed_file)
        return content

    def _restore(self, content: Mapping[str, Any]) -> Progress:
        try:
            self._net.load_state_dict(content["weights"])
            self._updates.load_state_dict(content["optimizer"])
            progress = Progress(*content["progress"][:len(Progress._fields)])  # earlier versions wrote more items
            if not all(isinstance(number, int | float) for number in progress):
                raise TypeError
        except Exception:  # various exceptions: names, sizes or types may be wrong
            raise InputError("the saved state does not fit this model or store",
                             "remove the directory, or give another one", self.directory) from None
        return progress


def random_state(device: torch.device) -> dict[str, Tensor]:
    """Return the states of PyTorch's random number generators for the CPU and the device, by device type."""
    state = {"cpu": torch.get_rng_state()}
    return state if device.type == "cpu" else {**state, device.type: torch.cuda.get_rng_state(device)}


def checksums(store: Store, options: TrainingOptions) -> dict[str, int]:
    """Return the checksums of all files on which training depends: store, soft targets, and confusions."""
    sums = store.checksums({*options.train_set.split(","), options.dev_set})
    if options.teacher:
        sums |= targets_checksums(Path(options.teacher), store, options.train_set)
    if options.asr_noise:
        sums[os.path.abspath(options.confusions)] = crc32_of(Path(options.confusions))
    return sums


def changed(saved: Mapping[str, int], sums: Mapping[str, int]) -> str | None:
    """Return the first file whose checksum differs from the saved checksum, or None if there is none."""
    return next((name for name in {**saved, **sums} if saved.get(name) != sums.get(name)), None)


def check_conf(content: Mapping[str, Any], path: Path, conf: dict[str, Any]) -> None:
    """Raise InputError unless `content`, from the file `path` of a training run, has this `conf`, apart from the
    options NOT_COMPARED."""
    saved = content.get("conf")
    if not isinstance(saved, dict):
        raise InputError("not a training run of punc: the file has no conf",
                         "remove it, or give another directory", path)
    # Options that are newer than the model get their default values. Options that no longer exist are ignored.
    saved = {**option_defaults(conf["model"]), **asdict(TrainingOptions()), **saved}
    for name, value in conf.items():
        if saved.get(name) != value and name not in NOT_COMPARED:
            raise InputError(f"this directory has a model with {kebab(name)}={saved.get(name)}, not {value}",
                             "remove the directory, or give another one", path.parent)
