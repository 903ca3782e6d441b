"""One epoch of training: an update of the weights for each batch."""

from collections.abc import Iterator

import torch

from punc.models.base import Model
from punc.tokens.batches import Batch
from punc.training.batching import slots_of
from punc.training.gradients import sum_gradients
from punc.training.losses import EpochLoss, LabelLoss
from punc.training.optim import Optimizer
from punc.training.ranks import ALONE, Ranks
from punc.training.under_way import BEGIN, UnderWay


def train_epoch(model: Model, updates: Optimizer, batches: Iterator[Batch], loss: LabelLoss,
                bfloat16: bool = False, ranks: Ranks = ALONE, under_way: UnderWay | None = None) -> float:
    """Train on batches, on the device of the model. The state goes on from a batch to the one that follows it.

    Returns the mean loss of a batch. Raises InputError if a loss is NaN or infinite.

    loss        of a batch; if it is a `Teacher`, it has made the batches
    bfloat16    whether matrix products are in bfloat16
    ranks       share the batches; updates and loss are those of the whole batches
    under_way   where the epoch was stopped, `batches` are those after it, and writes its state from time to time; None:
                the epoch begins, and its state is not written
    """
    place, epoch = (under_way.place, under_way.epoch) if under_way else (BEGIN, 0)
    state, device = place.state, model.device
    losses = EpochLoss(epoch + 1, device, ranks, place.steps, place.loss)
    for done, batch in enumerate(batches, place.batches + 1):
        share, has_loss = loss.share(batch), slots_of(batch) > 0
        batch = batch.to(device)
        if len(batch.tokens):  # a rank may have no row of a small batch
            state = model.initial_state(len(batch.tokens)) if batch.fresh else tuple(s.detach() for s in state)
            with torch.autocast(device.type, torch.bfloat16, enabled=bfloat16):
                logits, state = model(batch.tokens, batch.pauses, state)
        if has_loss:
            updates.zero_grad()
            step_loss = None
            if share:
                step_loss = loss.of(model, logits.float(), batch)
                if ranks.size > 1:
                    step_loss = step_loss * share
                step_loss.backward()
                step_loss = step_loss.detach()
            sum_gradients(updates.dense, updates.sparse, ranks)
            updates.step()
            losses.add(step_loss)
        if under_way:
            under_way.after(done, losses.steps, losses.total, state)
    return losses.mean()
