"""The highway layer compared with its equation, unit by unit."""

import math

import torch

from punc.layers.highway import Highway


def by_the_equation(layer, x):
    """One vector: y = H T + x (1 − T)."""
    size, weight, bias = len(x), layer.both.weight.tolist(), layer.both.bias.tolist()
    result = []
    for unit in range(size):
        h, t = (sum(w * a for w, a in zip(weight[row], x)) + bias[row] for row in (unit, size + unit))
        gate = 1 / (1 + math.exp(-t))
        result.append(max(h, 0) * gate + x[unit] * (1 - gate))
    return result


def test_highway_matches_loop():
    torch.manual_seed(1)
    layer, inputs = Highway(7), torch.randn(3, 4, 7)
    with torch.no_grad():
        layer.both.weight.mul_(5)
        expected = [[by_the_equation(layer, x) for x in row] for row in inputs.tolist()]
        torch.testing.assert_close(layer(inputs), torch.tensor(expected), rtol=0, atol=1e-5)


def test_highway_initially_carries_input():
    with torch.no_grad():
        layer, inputs = Highway(50), torch.randn(10, 50)
        layer.both.weight.zero_()
        layer.both.bias[:50].zero_()
        torch.testing.assert_close(layer(inputs), inputs * (1 - 1 / (1 + math.exp(2))))
