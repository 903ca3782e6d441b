"""Training curves, from the messages of `punc train`."""

import re
from pathlib import Path
from typing import NamedTuple

from punc.results.collect import log_parts

KEPT = re.compile(r"kept epoch (\d{1,9}): ", re.ASCII)
EPOCH = re.compile(r"epoch (\d{1,9}): rate (\S+), loss (\S+), dev loss (\S+), dev F1 (\S+),", re.ASCII)


class Epoch(NamedTuple):
    """An epoch of a training.

    number    from 1
    rate      the learning rate
    loss      on the training set; dev_loss: on the dev set
    dev_f1    in percent; NaN if the dev set has none
    kept      whether the model is that of this epoch
    """

    number: int
    rate: float
    loss: float
    dev_loss: float
    dev_f1: float
    kept: bool = False


def read_training(system: Path) -> list[Epoch]:
    """The epochs of the model in a directory; none if it has no log or is not trained in epochs.

    An epoch that was trained again, because the run was stopped before it was on disk, counts once, as the model was
    trained; a first epoch begins a new run. A log that does not say which epoch is kept is that of a run that has not
    ended, or of an older version: then it is the one with the lowest dev loss.
    """
    epochs: dict[int, Epoch] = {}
    kept = 0
    for path in log_parts(system / "log" / "train.log"):
        text = path.read_text(encoding="utf-8", errors="replace")
        for match in EPOCH.finditer(text):
            try:
                rate, loss, dev_loss, dev_f1 = map(float, match.groups()[1:])
            except ValueError:
                continue
            epoch = Epoch(int(match[1]), rate, loss, dev_loss, dev_f1)
            epochs = {number: one for number, one in epochs.items() if number < epoch.number} | {epoch.number: epoch}
            kept = 0
        kept = int((KEPT.findall(text) or [kept])[-1])
    if epochs and kept not in epochs:
        kept = min(epochs.values(), key=lambda epoch: epoch.dev_loss).number
    return [epoch._replace(kept=epoch.number == kept) for epoch in epochs.values()]
