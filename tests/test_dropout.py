"""Dropout in training, and invalid rates."""

import pytest
import torch

from punc.base.errors import InputError
from punc.layers.dropout import dropout


def test_dropout_drops_and_scales_in_training_only():
    torch.manual_seed(1)
    layer, ones = dropout(0.4), torch.ones(20000)
    left = layer(ones)
    assert set(left.tolist()) == {0.0, float(ones[0] / 0.6)}
    assert float(left.mean()) == pytest.approx(1, abs=0.03)
    assert torch.equal(layer.eval()(ones), ones)


@pytest.mark.parametrize("rate", [-0.1, 1.0, 80.0, float("nan")])
def test_dropout_invalid_rates(rate):
    with pytest.raises(InputError) as error:
        dropout(rate, "embedding_dropout")
    assert str(error.value) == f"embedding_dropout={rate}; it is at least 0 and less than 1"
