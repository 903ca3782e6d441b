"""The state of a training run on disk, after each epoch: a run continues from it; a finished run is not repeated.

During training the directory has `best.pt`, the model with the lowest development loss, and `progress.pt`, all that the
next epoch depends on, with checksums of the store. With `--keep f1` it also has `best_f1.pt`, the model with the
highest development F1; within a long epoch, `epoch.pt` (`under_way`). At the end it has `final.pt`, `conf`,
`labels.txt` and the tokenizer's files.
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
from punc.training.store_state import changed

FORMAT = "punc progress 2"
BEST_F1 = "best_f1.pt"  # the model with the highest dev F1, with --keep f1
EPOCH = "epoch.pt"  # of an epoch under way
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
    best_epoch: int = 0  # the number of the epoch with the lowest loss, from 1
    best_f1: float = -math.inf  # -inf: no epoch has an F1
    best_f1_epoch: int = 0


def advance(progress: Progress, dev_loss: float, min_improvement: float, fall: float = 0.0,
            dev_f1: float = math.nan) -> Progress:
    """The progress after one more epoch, with this development loss, and F1 in percent, NaN if there is none.

    Once the loss falls by less than the fraction `min_improvement`, the rate is halved after every epoch; when the loss
    falls by less than that again, training ends. In a linear schedule the rate has fallen by `fall` instead.

    Raises InputError if the loss is not finite.
    """
    if not math.isfinite(dev_loss):
        raise diverged(progress.epoch + 1, f"the development loss is {dev_loss}")
    epoch = progress.epoch + 1
    after = progress._replace(epoch=epoch, last_loss=dev_loss)
    if dev_loss <= progress.best_loss:
        after = after._replace(best_loss=dev_loss, best_epoch=epoch)
    if dev_f1 > progress.best_f1:
        after = after._replace(best_f1=dev_f1, best_f1_epoch=epoch)
    if fall:
        return after._replace(learning_rate=progress.learning_rate - fall)
    stalled = dev_loss > progress.best_loss * (1 - min_improvement)
    halving = progress.halving or stalled
    return after._replace(learning_rate=progress.learning_rate * (0.5 if halving else 1.0), halving=halving,
                          ended=stalled and progress.halving)


def kept_epoch(progress: Progress, keep_by: str) -> str:
    """A sentence: which epoch is kept by `loss` or `f1`, and which one the other would keep."""
    loss = progress.best_epoch, f"the lowest dev loss, {progress.best_loss:.5f}"
    f1 = progress.best_f1_epoch, f"the highest dev F1, {progress.best_f1:.2f}"
    if not progress.best_f1_epoch:
        return f"kept epoch {loss[0]}: {loss[1]}; no epoch has a dev F1: the dev set has no marks, nor has the output"
    (kept, reason), (other, other_reason) = (f1, loss) if keep_by == "f1" else (loss, f1)
    also = f", and {other_reason}" if kept == other else f"; epoch {other} has {other_reason}"
    return f"kept epoch {kept}: {reason}{also}"


def finished(directory: Path, conf: dict[str, Any]) -> bool:
    """Whether the directory has a finished model of this conf. Raises InputError if its model has another conf."""
    if not (directory / "final.pt").exists():
        return False
    _check_conf(_saved_conf(read_checkpoint(directory / "final.pt"), directory / "final.pt"), conf, directory)
    _remove_progress(directory)  # left by a run that was killed at its very end
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
    content = read_for(path, FORMAT, conf, store)
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


def read_for(path: Path, file_format: str, conf: dict[str, Any], store: Mapping[str, int]) -> dict[str, Any]:
    """The content of a file of an unfinished training. Raises InputError unless it is of this conf and this store."""
    content = read_checkpoint(path, file_format)
    _check_conf(_saved_conf(content, path), conf, path.parent)
    if not {"store", "weights", "optimizer"} <= set(content) or not isinstance(content["store"], dict):
        raise InputError("not the progress of a training", "remove it to train from the beginning", path)
    if name := changed(content["store"], store):
        raise InputError(f"changed since the training in {path.parent} began",
                         "remove that directory to begin anew, or make the store as it was", Path(conf["store"]) / name)
    return content


def keep(directory: Path, model: Model, updates: Optimizer, progress: Progress, conf: dict[str, Any],
         store: Mapping[str, int]) -> None:
    """Write what the next epoch depends on, and the model if it is the best so far; if not, restore the best model.

    store   the checksums of the store's files, by their names

    The model is written first: a run that is killed in between repeats its last epoch, with the same result. The best
    model, from which training continues, is the one with the lowest loss also if another one is kept by its F1.
    """
    if conf.get("keep") == "f1" and progress.best_f1_epoch == progress.epoch:
        save(model, directory / BEST_F1, conf=conf, store=dict(store), epoch=progress.epoch,
             dev_f1=progress.best_f1)
    if progress.last_loss == progress.best_loss:
        save(model, directory / "best.pt", conf=conf, store=dict(store), epoch=progress.epoch,
             dev_loss=progress.last_loss)
    else:
        model.load_state_dict(read_checkpoint(directory / "best.pt")["weights"])
    with atomic_file(directory / "progress.pt", "wb") as file:
        torch.save({"format": FORMAT, "conf": conf, "store": dict(store), "progress": tuple(progress),
                    "weights": cpu_weights(model), "optimizer": updates.state_dict()}, file)
    (directory / EPOCH).unlink(missing_ok=True)


def finish(directory: Path, model: Model, conf: dict[str, Any]) -> None:
    """Make the best model the final one, and write a conf file that trains the same model.

    It is the best one by `--keep`; if no epoch has an F1, by its loss.
    """
    if not (directory / "best.pt").exists():
        raise InputError("no epoch was trained", "set --epochs to 1 or more", directory)
    model.tokenizer.write(directory)
    model.labels.write(directory / "labels.txt")
    with atomic_file(directory / "conf") as file:
        file.write(f"# punc {punc.__version__}, torch {torch.__version__}, store {conf['store']}\n")
        file.writelines(f"{kebab(name)}={str(value).lower() if isinstance(value, bool) else value}\n"
                        for name, value in conf.items() if name != "store")
    os.replace(directory / (BEST_F1 if (directory / BEST_F1).exists() else "best.pt"), directory / "final.pt")
    _remove_progress(directory)


def _remove_progress(directory: Path) -> None:
    """Remove what a finished training needs no more; progress.pt, which shows that it is there, goes last."""
    for name in (EPOCH, BEST_F1, "best.pt", "progress.pt"):
        (directory / name).unlink(missing_ok=True)


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
