"""Training curves, from the messages of `punc train`."""

import re
from pathlib import Path
from typing import NamedTuple

from punc.scoring.collect import log_parts

EPOCH = re.compile(r"epoch (\d{1,9}): rate (\S+), loss (\S+), dev loss (\S+), dev F1 (\S+),", re.ASCII)


class Epoch(NamedTuple):
    """An epoch: its number, the learning rate, the loss on the training and the dev set, and F1 there in percent."""

    number: int
    rate: float
    loss: float
    dev_loss: float
    dev_f1: float


def read_training(system: Path) -> list[Epoch]:
    """The epochs of the model in a directory; none if it has no log or is not trained in epochs.

    An epoch that was trained again, because the run was stopped before it was on disk, counts once, as the model was
    trained; a first epoch begins a new run.
    """
    epochs: dict[int, Epoch] = {}
    for path in log_parts(system / "log" / "train.log"):
        for match in EPOCH.finditer(path.read_text(encoding="utf-8", errors="replace")):
            try:
                epoch = Epoch(int(match[1]), *map(float, match.groups()[1:]))
            except ValueError:
                continue
            epochs = {number: one for number, one in epochs.items() if number < epoch.number} | {epoch.number: epoch}
    return list(epochs.values())
