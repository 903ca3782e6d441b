"""The losses of an epoch: their mean, and the step at which one is NaN or infinite."""

import math

import pytest
import torch

from punc.base.errors import InputError
from punc.training.losses import INTERVAL, EpochLoss


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
