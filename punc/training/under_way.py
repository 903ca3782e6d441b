"""The epoch under way, on disk: a run that was stopped within a long epoch goes on where it was, to the same model.

`epoch.pt` has what the rest of the epoch depends on: weights, optimiser, how many batches are done, and for each rank
the state of its model, of its random numbers, and its loss. It is written every SECONDS, when Ctrl-C or SIGTERM stops a
training of one rank, and removed when the epoch is complete: when the development set is scored.
"""

import contextlib
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from punc.base.errors import InputError
from punc.base.files import atomic_file
from punc.base.stop import Stopped, received
from punc.models.base import Model, State, cpu_weights
from punc.training.checkpoint import EPOCH, read_for
from punc.training.optim import Optimizer
from punc.training.ranks import Ranks

FORMAT = "punc epoch 1"
SECONDS = 600.0  # of training that are lost at most when the process is killed, or one of several ranks is stopped
BATCHES = 100  # between two looks of several ranks at the clock of the first: they wait for each other


class Place(NamedTuple):
    """How far an epoch is, in one rank.

    batches   that are done
    seconds   of training for them
    steps     batches of these with a loss
    loss      their sum, (); None for 0
    state     of the model after them; empty before the first
    """

    batches: int = 0
    seconds: float = 0.0
    steps: int = 0
    loss: Tensor | None = None
    state: State = ()


BEGIN = Place()


class UnderWay:
    """The epoch under way of a training in `directory`.

    conf, store   of the training, as in `checkpoint.keep`

    `epoch` is its number, from 0, and `place` how far it is.
    """

    def __init__(self, directory: Path, net: Model, updates: Optimizer, conf: dict[str, Any],
                 store: Mapping[str, int], ranks: Ranks):
        self._path, self._net, self._updates, self._ranks = directory / EPOCH, net, updates, ranks
        self._conf, self._store = conf, store
        self.epoch, self.place = 0, BEGIN
        self._begin, self._written = 0.0, 0.0

    def begin(self, epoch: int) -> None:
        """Begin epoch `epoch`, from 0, with seeded random numbers; if some of it is on disk, restore the state of then.

        All ranks call it. The optimiser is restored in all of them; weights in the first, which gives them to others.

        Raises InputError, in the first rank, if what is on disk is of another conf or store, or is broken.
        """
        ranks, content = self._ranks, None
        with ranks.agree():
            if ranks.first:
                content = self._restore(epoch)
        places = ranks.from_first(content and content["places"])
        if places:
            ranks.copy_state(self._updates)
            own = places[ranks.rank]
            set_random_state(own["random"], self._net.device)
            place = Place(*own["place"])
            self.place = place._replace(state=tuple(part.to(self._net.device) for part in place.state))
        else:
            self.place = BEGIN
        self.epoch, self._written = epoch, time.perf_counter()
        self._begin = self._written - self.place.seconds

    def seconds(self) -> float:
        """Of training for this epoch so far, before and after a stop."""
        return time.perf_counter() - self._begin

    def after(self, batches: int, steps: int, loss: Tensor, state: State) -> None:
        """Write the state after `batches` batches, if it is time. All ranks call it after each batch.

        Raises Stopped if a signal has come, which is held back in a batch (`written_if_stopped`).
        """
        self.place = Place(batches, self.seconds(), steps, loss, state)
        if stopped := received():
            raise stopped
        looks = self._ranks.size == 1 or batches % BATCHES == 0
        if looks and self._ranks.from_first(time.perf_counter() - self._written >= SECONDS):
            self._write()

    @contextlib.contextmanager
    def written_if_stopped(self) -> Iterator[None]:
        """If the block raises Stopped, which it does only between two batches, a single rank writes its state."""
        try:
            yield
        except Stopped:
            # Several ranks cannot agree on a batch any more: torchrun ends them.
            if self._ranks.size == 1 and self.place.batches:
                self._write()
            raise

    def _write(self) -> None:
        ranks, place = self._ranks, self.place
        assert place.loss is not None, "a batch is done"
        place = place._replace(loss=place.loss.cpu(), state=tuple(part.detach().cpu() for part in place.state))
        places = ranks.gather({"place": tuple(place), "random": random_state(self._net.device)})
        with ranks.agree():
            if ranks.first:
                with atomic_file(self._path, "wb") as file:
                    torch.save({"format": FORMAT, "conf": self._conf, "store": dict(self._store), "epoch": self.epoch,
                                "places": places, "weights": cpu_weights(self._net),
                                "optimizer": self._updates.state_dict()}, file)
        self._written = time.perf_counter()

    def _restore(self, epoch: int) -> dict[str, Any] | None:
        """What is on disk of this epoch, with model and optimiser restored; None if there is nothing that fits.

        It does not fit if it is of an epoch that was completed since, or of another number of ranks.
        """
        if not self._path.exists():
            return None
        content = read_for(self._path, FORMAT, self._conf, self._store)
        try:
            if content["epoch"] != epoch or len(content["places"]) != self._ranks.size:
                return None
            self._net.load_state_dict(content["weights"])
            self._updates.load_state_dict(content["optimizer"])
        except Exception:  # as in checkpoint.resume
            raise InputError("not of this training", "remove it to train this epoch from its beginning",
                             self._path) from None
        return content


def random_state(device: torch.device) -> dict[str, Tensor]:
    """The state of PyTorch's random numbers, on the CPU and on the device, by its type."""
    state = {"cpu": torch.get_rng_state()}
    return state if device.type == "cpu" else {**state, device.type: torch.cuda.get_rng_state(device)}


def set_random_state(state: Mapping[str, Tensor], device: torch.device) -> None:
    """Restore it. On a device of another type, random numbers go on as they are seeded."""
    torch.set_rng_state(state["cpu"])
    if device.type != "cpu" and device.type in state:
        torch.cuda.set_rng_state(state[device.type], device)
