"""Dropout in training, and invalid rates."""

import pytest
import torch

from punc.base.errors import InputError
from punc.layers.dropout import drop, dropout


def test_dropout_drops_and_scales_in_training_only():
    torch.manual_seed(1)
    layer, ones = dropout(0.4), torch.ones(20000)
    left = layer(ones)
    assert set(left.tolist()) == {0.0, float(ones[0] / 0.6)}
    assert float(left.mean()) == pytest.approx(1, abs=0.03)
    assert torch.equal(layer.eval()(ones), ones)


@pytest.mark.parametrize("shape", [(), (0,), (3,), (5, 1, 7), (2, 4)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_drop_all_shapes_and_types(shape, dtype):
    torch.manual_seed(1)
    ones = torch.ones(shape, dtype=dtype, requires_grad=True)
    left = drop(ones, 0.25)
    assert (left.shape, left.dtype) == (ones.shape, dtype)
    assert set(left.flatten().tolist()) <= {0.0, float(torch.tensor(1 / 0.75).to(dtype))}
    left.sum().backward()
    assert torch.equal(ones.grad, left)


def test_drop_each_unit_by_itself():
    torch.manual_seed(1)
    dropped = drop(torch.ones(20000, 4), 0.3) == 0  # the columns are the four parts of a random number
    patterns = (dropped * torch.tensor([1, 2, 4, 8])).sum(1).bincount(minlength=16) / 20000
    expected = [0.3 ** bin(n).count("1") * 0.7 ** (4 - bin(n).count("1")) for n in range(16)]
    assert patterns.tolist() == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(("rate", "mean"), [(0, 0), (2**-20, 0), (1 - 2**-20, 1)])
def test_drop_extreme_rates(rate, mean):
    torch.manual_seed(1)
    assert float((drop(torch.ones(4000), rate) == 0).float().mean()) == pytest.approx(mean, abs=0.001)


@pytest.mark.parametrize("rate", [-0.1, 1.0, 80.0, float("nan")])
def test_dropout_invalid_rates(rate):
    with pytest.raises(InputError) as error:
        dropout(rate, "embedding_dropout")
    assert str(error.value) == f"embedding_dropout={rate}; it is at least 0 and less than 1"
