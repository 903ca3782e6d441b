"""Computes the loss of a batch from its labels and a teacher's posteriors, and the mean loss of an epoch.

In distillation, a student learns the posteriors of a teacher in addition to the labels, or instead of them (Hinton,
Vinyals & Dean 2015, "Distilling the Knowledge in a Neural Network", section 2, at temperature 1). With the teacher's
posteriors t, the student's posteriors q, and the weight w, the loss of a slot with the label y is

    (1 − w) · (−log q_y)  +  w · (−Σ_i t_i log q_i)
"""

import math

import numpy as np
import torch
from torch import Tensor

from punc.base.errors import InputError
from punc.models.base import Model
from punc.tokens.soft_targets import SoftTargets
from punc.tokens.store_set import Lazy, StoreSet
from punc.training.batching import Batch
from punc.training.ranks import ALONE, Ranks

INTERVAL = 100  # steps between two checks of the losses; checks are rare, because they wait for the GPU


class Teacher:
    """Computes the loss of a student from labels and soft targets. `weight`: the weight w (see the module docstring).

    In the set `indexed`, each slot has the index of its token instead of a label. With this index, `__call__` finds the
    label and the targets of the slot.
    """

    def __init__(self, data: StoreSet, targets: SoftTargets, weight: float):
        assert data.labels is not None, "the set is labelled"
        self.labels, self.targets, self.weight = data.labels, targets, weight
        self.indexed = data._replace(labels=Lazy(data.labels.shape, self._indices))  # type: ignore[arg-type]

    def _indices(self, tokens: slice) -> np.ndarray:
        """Return the index of each token, int64; −1 for a token without a slot."""
        return np.where(self.labels[tokens] >= 0, np.arange(*tokens.indices(len(self.labels))), -1)

    def __call__(self, batch: Batch) -> Batch:
        """Replace the indices in a batch of `indexed` by labels, and add the targets."""
        indices = batch.labels.numpy()
        slots = indices >= 0
        rows = self.targets[indices[slots]]
        labels = np.full_like(indices, -1)
        labels[slots] = self.labels[indices[slots]]
        targets = np.zeros((*indices.shape, rows.shape[1]), np.float32)
        targets[slots] = rows
        return batch._replace(labels=torch.from_numpy(labels), targets=torch.from_numpy(targets))

    def loss(self, model: Model, logits: Tensor, batch: Batch) -> Tensor:
        """Return the mean loss over the slots of a batch with targets, given the student's logits (B, T, L)."""
        assert batch.targets is not None, "__call__ has made the batch"
        soft = model.soft_loss(logits, batch.targets, batch.labels)
        if self.weight == 1:
            return soft
        return (1 - self.weight) * model.loss(logits, batch.labels) + self.weight * soft


class EpochLoss:
    """Adds up the losses of an epoch's batches. `epoch` counts from 1. `total` is the sum of the losses of
    `steps` batches."""

    def __init__(self, epoch: int, device: torch.device, ranks: Ranks = ALONE, steps: int = 0,
                 total: Tensor | None = None):
        self.epoch, self.ranks, self.steps = epoch, ranks, steps
        self.total = torch.zeros((), device=device) if total is None else total.to(device)
        self.recent: list[Tensor | None] = []  # losses of the steps since the last check

    def add(self, loss: Tensor | None) -> None:
        """Add the loss of the next step, a scalar, or None if this rank's share of the batch has no slots. The
        losses are checked every INTERVAL steps. Raises InputError if one of them is NaN or infinite."""
        if loss is not None:
            self.total += loss
        self.recent.append(loss)
        self.steps += 1
        if len(self.recent) == INTERVAL:
            self._check()

    def mean(self) -> float:
        """Return the mean loss per step, where the loss of a step is the sum over all ranks. Raises InputError if a
        loss was NaN or infinite."""
        self._check()
        return float(self.ranks.add(self.total)) / max(self.steps, 1)

    def _check(self) -> None:
        with self.ranks.agree():
            if not math.isfinite(self.total):
                for step, loss in enumerate(self.recent, self.steps - len(self.recent) + 1):
                    if loss is not None and not math.isfinite(loss):
                        raise diverged(self.epoch, f"the loss of step {step} is {float(loss)}")
        self.recent.clear()


def diverged(epoch: int, what: str) -> InputError:
    kept = f"; epoch {epoch - 1} is kept" if epoch > 1 else ""
    return InputError(f"epoch {epoch}: {what}",
                      f"lower --learning-rate, or set --max-grad-norm, and give another directory{kept}")
