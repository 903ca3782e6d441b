"""Where a training run is, on disk: it goes on from its last whole epoch, and a finished one is not done again.

While it runs a directory has `best.pt`, the model with the lowest development loss, and `progress.pt`, all
that the next epoch depends on; at the end `final.pt`, `conf`, `vocab` and `labels.txt`.
"""

import math
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import torch

import punc
from punc.base.errors import InputError
from punc.base.files import atomic_file
from punc.base.options import kebab
from punc.models.base import Model, option_defaults, read_checkpoint, save
from punc.training.optim import Optimizer

FORMAT = "punc progress 1"


class Progress(NamedTuple):
    """What decides how training goes on after an epoch."""

    learning_rate: float
    epoch: int = 0  # epochs done
    halving: bool = False
    last_loss: float = math.inf
    best_loss: float = math.inf
    ended: bool = False


def advance(progress: Progress, dev_loss: float, min_improvement: float, fall: float = 0.0) -> Progress:
    """The progress after one more epoch, which had this development loss.

    Once the loss falls by less than the part `min_improvement`, the rate is halved every epoch; when it falls
    by less than that again, training ends. With a linear schedule the rate has fallen by `fall`, whatever the loss.
    Raises InputError where the loss is not finite.
    """
    if not math.isfinite(dev_loss):
        raise InputError("the development loss is not finite", "lower --learning-rate, or set --max-grad-norm")
    if fall:
        return Progress(progress.learning_rate - fall, progress.epoch + 1, False, dev_loss,
                        min(dev_loss, progress.best_loss))
    stalled = dev_loss > progress.best_loss * (1 - min_improvement)
    halving = progress.halving or stalled
    return Progress(progress.learning_rate * (0.5 if halving else 1.0), progress.epoch + 1, halving, dev_loss,
                    min(dev_loss, progress.best_loss), stalled and progress.halving)


def finished(directory: Path, conf: dict[str, Any], defaults: Mapping[str, Any] = MappingProxyType({})) -> bool:
    """Whether the directory has the finished model of these options. Raises InputError where it is another one's.

    An option that its conf has not, because it is from before there was one, has the value of `defaults`.
    """
    if not (directory / "final.pt").exists():
        return False
    _check_conf({**defaults, **read_checkpoint(directory / "final.pt")["conf"]}, conf, directory)
    (directory / "progress.pt").unlink(missing_ok=True)  # of a run that was killed in its last moment
    return True


def resume(directory: Path, model: Model, updates: Optimizer, conf: dict[str, Any],
           defaults: Mapping[str, Any] = MappingProxyType({})) -> Progress | None:
    """Restore model and optimiser after the last whole epoch; None where none was finished. `defaults` as above."""
    path = directory / "progress.pt"
    if not path.exists():
        return None
    content = read_checkpoint(path, FORMAT)
    _check_conf({**defaults, **content["conf"]}, conf, directory)
    try:
        model.load_state_dict(content["weights"])
        updates.load_state_dict(content["optimizer"])
    except (RuntimeError, ValueError):
        raise InputError("this run was begun on another store", "remove the directory, or name another one",
                         directory) from None
    return Progress(*content["progress"])


def keep(directory: Path, model: Model, updates: Optimizer, progress: Progress, conf: dict[str, Any]) -> None:
    """Write what the next epoch needs, and the model where it is the best so far; else go back to the best.

    The model comes first: a run that is killed between the two does its last epoch again, to the same model.
    """
    if progress.last_loss == progress.best_loss:
        save(model, directory / "best.pt", conf=conf, epoch=progress.epoch, dev_loss=progress.last_loss)
    else:
        model.load_state_dict(read_checkpoint(directory / "best.pt")["weights"])
    with atomic_file(directory / "progress.pt", "wb") as file:
        torch.save({"format": FORMAT, "conf": conf, "progress": tuple(progress), "weights": model.state_dict(),
                    "optimizer": updates.state_dict()}, file)


def finish(directory: Path, model: Model, conf: dict[str, Any]) -> None:
    """Make the best model the final one, and write a conf that trains it again."""
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


def _check_conf(there: dict[str, Any], conf: dict[str, Any], directory: Path) -> None:
    # A model that was trained before it had an option was trained with that option's default.
    defaults = option_defaults(conf["model"])
    there, conf = {**defaults, **there}, {**defaults, **conf}
    different = [name for name in {**there, **conf} if there.get(name) != conf.get(name)]
    if different:
        name = different[0]
        raise InputError(f"here is a model with {kebab(name)}={there.get(name)}, not {conf.get(name)}",
                         "remove the directory, or name another one", directory)
