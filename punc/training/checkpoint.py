"""The state of a training run on disk: a run continues from its last complete epoch; a finished run is not repeated.

During training the directory has `best.pt`, the model with the lowest development loss, and `progress.pt`, all that the
next epoch depends on, with checksums of the store. At the end it has `final.pt`, `conf`, `labels.txt` and the
tokenizer's files.
"""

import math
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import torch

import punc
from punc.base.errors import InputError
from punc.base.files import atomic_file
from punc.base.options import kebab
from punc.models.base import Model, cpu_weights, option_defaults, read_checkpoint, save
from punc.training.losses import diverged
from punc.training.optim import Optimizer
from punc.training.options import TrainingOptions

FORMAT = "punc progress 2"
# With another thread count PyTorch adds up in another order, so the last bits of the weights may differ. It is the same
# model all the same, and a run may go on where there are more cores, or fewer.
# The device is not compared for the same reason.
NOT_COMPARED = ("threads", "device")


class Progress(NamedTuple):
    """What decides how training continues after an epoch."""

    learning_rate: float
    epoch: int = 0  # complete epochs
    halving: bool = False
    last_loss: float = math.inf
    best_loss: float = math.inf
    ended: bool = False


def advance(progress: Progress, dev_loss: float, min_improvement: float, fall: float = 0.0) -> Progress:
    """The progress after one more epoch, with this development loss.

    Once the loss falls by less than the fraction `min_improvement`, the rate is halved after every epoch; when the loss
    falls by less than that again, training ends. In a linear schedule the rate has fallen by `fall` instead.

    Raises InputError if the loss is not finite.
    """
    if not math.isfinite(dev_loss):
        raise diverged(progress.epoch + 1, f"the development loss is {dev_loss}")
    if fall:
        return Progress(progress.learning_rate - fall, progress.epoch + 1, False, dev_loss,
                        min(dev_loss, progress.best_loss))
    stalled = dev_loss > progress.best_loss * (1 - min_improvement)
    halving = progress.halving or stalled
    return Progress(progress.learning_rate * (0.5 if halving else 1.0), progress.epoch + 1, halving, dev_loss,
                    min(dev_loss, progress.best_loss), stalled and progress.halving)


def finished(directory: Path, conf: dict[str, Any]) -> bool:
    """Whether the directory has a finished model of this conf. Raises InputError if its model has another conf."""
    if not (directory / "final.pt").exists():
        return False
    _check_conf(_saved_conf(read_checkpoint(directory / "final.pt"), directory / "final.pt"), conf, directory)
    (directory / "progress.pt").unlink(missing_ok=True)  # left by a run that was killed at its very end
    return True


def resume(directory: Path, model: Model, updates: Optimizer, conf: dict[str, Any],
           store: Mapping[str, int]) -> Progress | None:
    """Restore the model and the optimiser of the last complete epoch; None if there is none.

    store   the checksums of the store's files, by their names

    Raises InputError if the run was started with another conf or on another store, or if the store has changed since.
    """
    path = directory / "progress.pt"
    if not path.exists():
        return None
    content = read_checkpoint(path, FORMAT)
    _check_conf(_saved_conf(content, path), conf, directory)
    if not {"store", "progress", "weights", "optimizer"} <= set(content) or not isinstance(content["store"], dict):
        raise InputError("not the progress of a training", "remove it to train from the beginning", path)
    for name in {**content["store"], **store}:
        if content["store"].get(name) != store.get(name):
            raise InputError(f"changed since the training in {directory} began",
                             "remove that directory to begin anew, or make the store as it was",
                             Path(conf["store"]) / name)
    try:
        model.load_state_dict(content["weights"])
        updates.load_state_dict(content["optimizer"])
        progress = Progress(*content["progress"])
        if not all(isinstance(number, int | float) for number in progress):
            raise TypeError
    except Exception:  # other names, sizes or types; each part of a model and an optimiser fails in its own way
        raise InputError("this run was started on another store", "remove the directory, or name another one",
                         directory) from None
    return progress


def keep(directory: Path, model: Model, updates: Optimizer, progress: Progress, conf: dict[str, Any],
         store: Mapping[str, int]) -> None:
    """Write what the next epoch depends on, and the model if it is the best so far; if not, restore the best model.

    store   the checksums of the store's files, by their names

    The model is written first: a run that is killed in between repeats its last epoch, with the same result.
    """
    if progress.last_loss == progress.best_loss:
        save(model, directory / "best.pt", conf=conf, epoch=progress.epoch, dev_loss=progress.last_loss)
    else:
        model.load_state_dict(read_checkpoint(directory / "best.pt")["weights"])
    with atomic_file(directory / "progress.pt", "wb") as file:
        torch.save({"format": FORMAT, "conf": conf, "store": dict(store), "progress": tuple(progress),
                    "weights": cpu_weights(model), "optimizer": updates.state_dict()}, file)


def finish(directory: Path, model: Model, conf: dict[str, Any]) -> None:
    """Make the best model the final one, and write a conf file that trains the same model."""
    if not (directory / "best.pt").exists():
        raise InputError("no epoch was trained", "set --epochs to 1 or more", directory)
    model.tokenizer.write(directory)
    model.labels.write(directory / "labels.txt")
    with atomic_file(directory / "conf") as file:
        file.write(f"# punc {punc.__version__}, torch {torch.__version__}, store {conf['store']}\n")
        file.writelines(f"{kebab(name)}={str(value).lower() if isinstance(value, bool) else value}\n"
                        for name, value in conf.items() if name != "store")
    os.replace(directory / "best.pt", directory / "final.pt")
    (directory / "progress.pt").unlink(missing_ok=True)


def compared(conf: dict[str, Any]) -> dict[str, Any]:
    """The options that a model depends on, by their names on the command line; the store's path is none of them."""
    return {kebab(name): value for name, value in conf.items() if name not in (*NOT_COMPARED, "store")}


def _saved_conf(content: dict[str, Any], path: Path) -> dict[str, Any]:
    """The conf in a file of a training. Raises InputError if it has none."""
    if not isinstance(conf := content.get("conf"), dict):
        raise InputError("not a file of a training: it has no conf", "remove it, or name another directory", path)
    return conf


def _check_conf(saved: dict[str, Any], conf: dict[str, Any], directory: Path) -> None:
    """Raise InputError if the saved conf differs from this one."""
    # The saved conf lacks options that are newer than the model; it was trained as their defaults say.
    defaults = {**option_defaults(conf["model"]), **asdict(TrainingOptions())}
    saved, conf = {**defaults, **saved}, {**defaults, **conf}
    for name in {**saved, **conf}:
        if saved.get(name) != conf.get(name) and name not in NOT_COMPARED:
            raise InputError(f"here is a model with {kebab(name)}={saved.get(name)}, not {conf.get(name)}",
                             "remove the directory, or name another one", directory)
