"""Sigmoid layers compared with loops; a unit that a batch drops has no effect."""

import math

import numpy as np
import pytest
import torch

from punc.base.errors import InputError
from punc.layers.fully_connected import FullyConnected

torch.set_num_threads(1)


def by_loops(layers, inputs, kept=None, middle=0.0):
    """The output for one sample in double precision; `kept` has the units of each hidden layer."""
    values = [float(x) for x in inputs]
    for number, layer in enumerate(layers):
        weight, bias = layer.weight.double().tolist(), layer.bias.double().tolist()
        sums = [sum(w * x for w, x in zip(row, values)) + b for row, b in zip(weight, bias)]
        if number == len(layers) - 1:
            return sums
        values = [1 / (1 + math.exp(-s)) - middle for s in sums]
        if kept is not None:
            values = [value * len(values) / len(kept[number]) * (unit in kept[number])
                      for unit, value in enumerate(values)]
    raise AssertionError


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize(("dropout", "shared"), [(0.0, True), (0.0, False), (0.5, True), (0.5, False)])
def test_eval_matches_equations_without_dropout(dropout, shared, centred):
    torch.manual_seed(1)
    layer, inputs = FullyConnected((7, 5, 9, 3), dropout, shared, centred).train(dropout == 0), torch.randn(2, 4, 7)
    found = layer(inputs)
    assert found.shape == (2, 4, 3)
    for row, sample in zip(found.flatten(0, 1), inputs.flatten(0, 1)):
        expected = by_loops(layer.layers, sample, middle=centred / 2)
        np.testing.assert_allclose(row.detach().numpy(), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("centred", [False, True])
def test_shared_dropout_drops_same_units_in_batch(monkeypatch, centred):
    """The dropped units are fixed here; values and gradients are those of a network without them."""
    layer, inputs = FullyConnected((6, 4, 8, 3), 0.5, centred=centred).train(), torch.randn(5, 6)
    orders = {4: [2, 0, 1, 3], 8: [7, 6, 0, 3, 1, 2, 4, 5]}
    monkeypatch.setattr(torch, "randperm", lambda size, device: torch.tensor(orders[size]))
    kept = [set(orders[4][:2]), set(orders[8][:4])]
    found = layer(inputs)
    for row, sample in zip(found, inputs):
        expected = by_loops(layer.layers, sample, kept, centred / 2)
        np.testing.assert_allclose(row.detach().numpy(), expected, rtol=0, atol=1e-5)
    found.square().sum().backward()
    below = set(range(6))
    for number, (linear, units) in enumerate(zip(layer.layers, [*kept, set(range(3))])):
        touched = {(int(i), int(j)) for i, j in zip(*np.nonzero(linear.weight.grad.numpy()))}
        assert touched == {(i, j) for i in units for j in below}, number
        assert set(np.flatnonzero(linear.bias.grad.numpy()).tolist()) == units
        below = units


@pytest.mark.parametrize(("size", "dropout", "kept"), [(1, 0.5, 1), (10, 0.25, 8), (300, 0.5, 150), (2048, 0.2, 1632),
                                                       (4096, 0.5, 2048), (2048, 0.99, 20)])
def test_shared_dropout_number_of_kept_units(size, dropout, kept):
    units = FullyConnected((1, size, 1), dropout)._kept(size)
    assert len(units) == kept
    assert torch.equal(units, units.unique())
    assert 0 <= units.min() <= units.max() < size


@pytest.mark.parametrize("shared", [True, False])
def test_dropout_keeps_mean_output(shared):
    torch.manual_seed(1)
    layer, inputs = FullyConnected((6, 20, 3), 0.25, shared), torch.randn(1, 6)
    expected = layer.eval()(inputs)
    layer.train()
    with torch.no_grad():
        outputs = torch.stack([layer(inputs) for _ in range(2000)])
    assert outputs.std(0).min() > 0.05
    torch.testing.assert_close(outputs.mean(0), expected, rtol=0, atol=0.06)


def test_dropout_not_shared_drops_units_of_each_sample():
    torch.manual_seed(1)
    inputs = torch.ones(50, 6)
    spread = {shared: FullyConnected((6, 20, 3), 0.5, shared).train()(inputs).std(0) for shared in (True, False)}
    assert spread[True].max() < 1e-5
    assert spread[False].min() > 0.05


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("sizes", [(250, 300, 4), (250, 200, 400, 200, 4)])
def test_initial_outputs_differ_and_units_are_not_saturated(sizes, centred):
    torch.manual_seed(1)
    layer, values = FullyConnected(sizes, centred=centred), torch.randn(500, 250)
    *hidden, output = layer.layers
    for linear in hidden:
        values = linear(values).sigmoid() - centred / 2
        assert 0.1 < values.std() < 0.4
        assert abs(values.mean() - 0.5 + centred / 2) < 0.05
    assert 0.1 < output(values).std() < 2


@pytest.mark.parametrize("dropout", [-0.1, 1.0, 50.0, math.nan])
def test_fully_connected_invalid_dropout(dropout):
    with pytest.raises(InputError, match="it is at least 0 and less than 1"):
        FullyConnected((3, 3), dropout)
