"""The loss of the labels of a batch, and the losses of an epoch.

Training stops where a loss is NaN or infinite: that spreads to the weights, and stays.
"""

import math

import torch
from torch import Tensor

from punc.base.errors import InputError
from punc.models.base import Model, not_finite
from punc.tokens.batches import Batch
from punc.training.ranks import ALONE, Ranks

INTERVAL = 100  # steps between two looks at the losses: to see a loss on a GPU, Python waits for the GPU


class LabelLoss:
    """The mean loss of the labels of a batch.

    weights   (L,), of each label; None: all 1
    device    where logits and labels are
    """

    def __init__(self, weights: Tensor | None = None, device: torch.device | None = None):
        self._weights, self._on_device = weights, None if weights is None else weights.to(device)

    def of(self, model: Model, logits: Tensor, batch: Batch) -> Tensor:
        """The loss (), of logits (B, T, L)."""
        return model.loss(logits, batch.labels, self._on_device)

    def share(self, batch: Batch) -> float:
        """The share that the loss of a batch on the CPU has in that of the whole batch; 1 if it is the whole batch."""
        if batch.counts is None:
            return 1.0
        own = torch.bincount(batch.labels[batch.labels >= 0], minlength=len(batch.counts))
        part, whole = (float(counts.sum() if self._weights is None else counts.double() @ self._weights.double())
                       for counts in (own, batch.counts))
        return part / whole if whole else 0.0


class EpochLoss:
    """The mean loss of the batches of an epoch.

    epoch    its number, from 1, for errors
    device   where the losses are
    ranks    share the batches; all call `add` for the same steps
    steps    that are done, with the sum of their losses, `total` (); None for 0
    """

    def __init__(self, epoch: int, device: torch.device, ranks: Ranks = ALONE, steps: int = 0,
                 total: Tensor | None = None):
        self.epoch, self.ranks, self.steps = epoch, ranks, steps
        self.total = torch.zeros((), device=device) if total is None else total.to(device)
        self.recent: list[Tensor | None] = []  # of the steps since the last look

    def add(self, loss: Tensor | None) -> None:
        """Add the loss () of the next step; None if this rank has no share in it.

        Raises InputError, at every INTERVAL-th step, if a loss since the last time was NaN or infinite.
        """
        if loss is not None:
            self.total += loss
        self.recent.append(loss)
        self.steps += 1
        if len(self.recent) == INTERVAL:
            self._check()

    def mean(self) -> float:
        """The mean over all steps; 0 if there was none. Raises InputError if a loss was NaN or infinite."""
        self._check()
        return float(self.ranks.add(self.total)) / max(self.steps, 1)

    def _check(self) -> None:
        with self.ranks.agree():
            if not math.isfinite(self.total):
                for step, loss in enumerate(self.recent, self.steps - len(self.recent) + 1):
                    if loss is not None and not math.isfinite(loss):
                        raise diverged(self.epoch, f"the loss of step {step} is {float(loss)}")
        self.recent.clear()


def check_weights(model: Model, epoch: int) -> None:
    """Raise InputError if a weight is NaN or infinite after epoch `epoch`, from 1.

    A gradient can be so although the loss is not, and an embedding's row may not be read again.
    """
    if name := not_finite(model.state_dict()):
        raise diverged(epoch, f"{name} has weights that are NaN or infinite")


def diverged(epoch: int, what: str) -> InputError:
    """The error of a training that came to nothing in epoch `epoch`, from 1."""
    kept = f"; epoch {epoch - 1} is kept" if epoch > 1 else ""
    return InputError(f"epoch {epoch}: {what}",
                      f"lower --learning-rate, or set --max-grad-norm, and name another directory{kept}")
