"""The losses of an epoch: their mean, the step at which one is NaN or infinite; loss and F1 of a development set."""

import math

import numpy as np
import pytest
import torch

from punc.base.errors import InputError
from punc.models.base import NeuralModel
from punc.tokens.batches import Batch
from punc.tokens.store import Store, make_store
from punc.training.epochs import evaluate, labelled
from punc.training.losses import INTERVAL, EpochLoss, share_of


def added(losses, epoch=3):
    result = EpochLoss(epoch, torch.device("cpu"))
    for loss in losses:
        result.add(None if loss is None else torch.tensor(loss))
    return result


@pytest.mark.parametrize(("losses", "mean"), [([], 0.0), ([2.0], 2.0), ([2.0, 4.0], 3.0), ([2.0, None], 1.0),
                                              ([1.0] * (INTERVAL + 5), 1.0)])
def test_mean_is_over_all_steps(losses, mean):
    assert added(losses).mean() == mean


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("step", [1, INTERVAL, INTERVAL + 1, 2 * INTERVAL + 3])
def test_first_loss_that_is_not_finite_is_named(number, step):
    losses = [None, *[1.0] * (3 * INTERVAL)]
    losses[step - 1], losses[step + 2] = number, math.nan
    with pytest.raises(InputError, match=rf"^epoch 3: the loss of step {step} is {number}; lower .*; epoch 2 is kept$"):
        added(losses).mean()


def test_loss_that_is_not_finite_is_found_within_an_interval():
    with pytest.raises(InputError, match=r"^epoch 1: the loss of step 2 is nan; .* another directory$"):
        added([1.0, math.nan, *[1.0] * (INTERVAL - 2)], epoch=1)


def test_shares_of_ranks_add_up_to_the_loss_of_the_batch():
    labels = torch.tensor([[0, 1, -1], [1, -1, 0], [0, 0, -1]])
    logits, model = torch.randn(3, 3, 2), NeuralModel()
    whole = Batch(torch.zeros(3, 3, dtype=torch.int64), None, labels)
    assert share_of(whole) == 1
    total = 0.0
    for rank in range(2):
        batch = whole.share(rank, 2, 2)
        total += share_of(batch) * float(model.loss(logits[rank::2], batch.labels))
    assert total == pytest.approx(float(model.loss(logits, labels)), rel=1e-6)


def test_evaluate_by_hand(toy_store, tmp_path):
    """A model that gives every slot the same logits: the loss is a cross-entropy that is known."""
    class Same(NeuralModel):
        lookahead = 1

        def forward(self, tokens, pauses, state):
            return torch.log(torch.tensor([.2, .3, .5])).expand(*tokens.shape, 3), state

    store = Store(toy_store)
    model, data = Same(), store.set("dev_short")
    model.labels = store.labels
    counts = np.bincount(data.labels, minlength=3)
    loss, f1 = evaluate(model, data)
    assert loss == pytest.approx(-(counts * np.log([.2, .3, .5])).sum() / counts.sum(), rel=1e-6)
    precision, recall = counts[2] / counts.sum(), counts[2] / (counts[1] + counts[2])
    assert f1 == pytest.approx(100 * 2 * precision * recall / (precision + recall))


def test_labelled_set_without_labels_is_an_error(toy_store, tmp_path):
    place = toy_store.parent
    for name in ("text", "utt2spk"):
        (tmp_path / "d").mkdir(exist_ok=True)
        (tmp_path / "d" / name).write_bytes((place / "dev_short" / name).read_bytes())
    make_store(tmp_path / "store", [tmp_path / "d"], place / "labels.txt", vocab=place / "vocab", nj=1)
    with pytest.raises(InputError, match="set 'd' has no labels; make the store of a data directory with punct"):
        labelled(Store(tmp_path / "store"), "d")
