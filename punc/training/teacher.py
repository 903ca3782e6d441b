"""Distillation: a student learns the distributions of a teacher next to the labels, or instead of them.

Hinton, Vinyals & Dean 2015, "Distilling the Knowledge in a Neural Network", section 2. With temperature T, the logits z
of the student and the posteriors p of the teacher make, equation (1),

    q_i = exp(z_i / T) / Σ_j exp(z_j / T);  t_i = p_i^(1/T) / Σ_j p_j^(1/T)

and the loss of a slot with the label y, at the weight w, is

    (1 − w) · (−log q_y at T = 1)  +  w · T² · (−Σ_i t_i log q_i)

T² keeps the size of the second gradient, (q − t) / T for each slot, whatever T is. With w = 1 the labels do not count:
the text needs none, and its set can have any.
"""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from punc.base.errors import InputError
from punc.models.base import Model
from punc.tokens.batches import Batch
from punc.tokens.soft_targets import read_targets
from punc.tokens.store import Store
from punc.tokens.store_set import StoreSet
from punc.training.losses import LabelLoss
from punc.training.options import TrainingOptions


class SlotIndices:
    """The index of each slot in its set, int64 (N,), −1 if there is no slot: read lazily, as the labels (N,) are.

    Batches of these instead of labels say which rows of the targets they need, however they are cut.
    """

    def __init__(self, labels: np.ndarray):
        self.labels = labels

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, tokens: slice) -> np.ndarray:
        labels = self.labels[tokens]
        first = tokens.indices(len(self))[0]
        return np.where(np.asarray(labels) >= 0, np.arange(first, first + len(labels)), -1)


class Teacher(LabelLoss):
    """The soft targets of a training set, and the loss of a student.

    data      the training set; `indexed` is the same set with indices of slots as labels
    targets   float16 (N, L), the posteriors of the teacher; zeros where there is no slot: the first label
    options   with the weight and the temperature

    Raises InputError if the options do not fit together.
    """

    def __init__(self, data: StoreSet, targets: np.ndarray, options: TrainingOptions):
        super().__init__()
        if options.class_weights:
            raise InputError("--class-weights with --teacher", "leave one of them out")
        assert data.labels is not None, "the set is labelled"
        self.labels, self.targets = data.labels, targets
        self.weight, self.temperature = options.teacher_weight, options.teacher_temperature
        self.indexed = data._replace(labels=SlotIndices(data.labels))  # type: ignore[arg-type]

    @classmethod
    def find(cls, store: Store, data: StoreSet, options: TrainingOptions) -> "Teacher | None":
        """The teacher that the options name, for the training set; None if they name none."""
        if not options.teacher:
            return None
        return cls(data, read_targets(Path(options.teacher), store, options.train_set), options)

    def __call__(self, batch: Batch) -> Batch:
        """A batch of `indexed`, with its labels and targets."""
        indices = batch.labels.numpy()
        slots = indices >= 0
        rows = self.targets[indices[slots]].astype(np.float32)
        rows[~rows.any(1), 0] = 1
        rows **= 1 / self.temperature
        labels, targets = np.full_like(indices, -1), np.zeros((*indices.shape, rows.shape[1]), np.float32)
        labels[slots], targets[slots] = self.labels[indices[slots]], rows / rows.sum(1, keepdims=True)
        return batch._replace(labels=torch.from_numpy(labels), targets=torch.from_numpy(targets))

    def of(self, model: Model, logits: Tensor, batch: Batch) -> Tensor:
        """The mean loss () of the slots of a batch with targets, of logits (B, T, L)."""
        assert batch.targets is not None, "__call__ has made the batch"
        soft = self.temperature**2 * model.soft_loss(logits, batch.targets, batch.labels, self.temperature)
        if self.weight == 1:
            return soft
        return (1 - self.weight) * super().of(model, logits, batch) + self.weight * soft
