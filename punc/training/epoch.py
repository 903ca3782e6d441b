"""One epoch of training: an update of the weights for each batch."""

from collections.abc import Iterator

import torch

from punc.models.base import Model
from punc.tokens.batches import Batch
from punc.training.batching import loss_share, slots_of
from punc.training.gradients import sum_gradients
from punc.training.losses import EpochLoss
from punc.training.optim import Optimizer
from punc.training.ranks import ALONE, Ranks
from punc.training.teacher import Teacher
from punc.training.under_way import BEGIN, Place, UnderWay


def train_epoch(model: Model, updates: Optimizer, batches: Iterator[Batch], weights: torch.Tensor | None,
                max_grad_norm: float, bfloat16: bool = False, ranks: Ranks = ALONE,
                epoch: int = 1, teacher: Teacher | None = None, place: Place = BEGIN,
                under_way: UnderWay | None = None) -> float:
    """Train on batches, on the device of the model. The state goes on from a batch to the one that follows it.

    Returns the mean loss of a batch. Raises InputError if a loss is NaN or infinite.

    weights         (L,), of each label in the loss; None: all 1
    max_grad_norm   largest norm of the gradient; 0: no limit
    bfloat16        whether matrix products are in bfloat16
    ranks           share the batches; updates and loss are those of the whole batches
    epoch           its number, from 1, for errors
    teacher         has made the batches, and knows their loss; None: the loss is that of the labels
    place           where the epoch was stopped; `batches` are those after it
    under_way       writes the state of the epoch from time to time; None: it is not written
    """
    state, device = place.state, model.device
    losses = EpochLoss(epoch, device, ranks, place.steps, place.loss)
    device_weights = None if weights is None else weights.to(device)
    for done, batch in enumerate(batches, place.batches + 1):
        share, has_loss = loss_share(batch, weights), slots_of(batch) > 0
        batch = batch.to(device)
        if len(batch.tokens):  # a rank may have no row of a small batch
            state = model.initial_state(len(batch.tokens)) if batch.fresh else tuple(s.detach() for s in state)
            with torch.autocast(device.type, torch.bfloat16, enabled=bfloat16):
                logits, state = model(batch.tokens, batch.pauses, state)
        if has_loss:
            updates.zero_grad()
            loss = None
            if share:
                loss = teacher.loss(model, logits.float(), batch) if teacher else \
                    model.loss(logits.float(), batch.labels, device_weights)
                if ranks.size > 1:
                    loss = loss * share
                loss.backward()
                loss = loss.detach()
            sum_gradients(updates.dense, updates.sparse, ranks)
            updates.step(max_grad_norm)
            losses.add(loss)
        if under_way:
            under_way.after(done, losses.steps, losses.total, state)
    return losses.mean()
