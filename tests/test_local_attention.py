"""Local attention compared with loops, for texts of different lengths in a batch."""

import math

import numpy as np
import pytest
import torch

from punc.base.errors import InputError
from punc.layers.local_attention import BLOCK, MIN_SUM, LocalAttention, averages

torch.set_num_threads(1)
LENGTHS = [9, 1, 4, 0, 7]


def attention(window, normalize):
    torch.manual_seed(3)
    layer = LocalAttention(6, 5, window, normalize).double()
    for weight in layer.parameters():
        torch.nn.init.uniform_(weight, -1, 1)
    return layer


def by_loops(layer, states, length, window, normalize):
    """Equations (13)-(15) for one text: (T, D) → weights (T, l), averages (T, D)."""
    w, u, v = (weight.detach().numpy() for weight in (layer.own.weight, layer.other.weight, layer.score))
    reach, weights = (window - 1) // 2, np.zeros((len(states), window))
    for t in range(len(states)):
        places = [i for i in range(t - reach, t + reach + 1) if 0 <= i < length or i == t]
        e = [float(v @ np.tanh(w @ states[t] + u @ states[i])) for i in places]
        if normalize == "softmax":
            e = [math.exp(x) for x in e]
        total = sum(e)
        if normalize == "sum" and abs(total) < MIN_SUM:
            total = math.copysign(MIN_SUM, total)
        for i, x in zip(places, e):
            weights[t, i - t + reach] = x / total
    around = np.pad(states, ((reach, reach), (0, 0)))
    return weights, np.array([weights[t] @ around[t:t + window] for t in range(len(states))])


@pytest.mark.parametrize("normalize", ["softmax", "sum"])
@pytest.mark.parametrize("window", [1, 3, 5, 31])
def test_local_attention_matches_equations(window, normalize):
    layer = attention(window, normalize)
    states = torch.randn(len(LENGTHS), 9, 6, dtype=torch.double)
    found = layer(states, torch.tensor(LENGTHS)).detach().numpy()
    weights = layer.weights(states, torch.tensor(LENGTHS)).detach().numpy()
    for row, length in enumerate(LENGTHS):
        expected = by_loops(layer, states[row].numpy(), length, window, normalize)
        np.testing.assert_allclose(weights[row], expected[0], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found[row], expected[1], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("normalize", ["softmax", "sum"])
def test_local_attention_ignores_outside_of_text(normalize):
    layer, states = attention(5, normalize), torch.randn(1, 9, 6, dtype=torch.double)
    other = states.clone()
    other[:, 6:] = 7.0
    a, b = (layer(s, torch.tensor([6]))[:, :6] for s in (states, other))
    assert torch.equal(a, b)
    torch.testing.assert_close(a, layer(states[:, :6], torch.tensor([6])))


@pytest.mark.parametrize(("steps", "window"), [(1, 1), (1, 31), (BLOCK, 5), (BLOCK + 1, 5), (3 * BLOCK - 1, 63)])
def test_averages_in_blocks_match_loop(steps, window):
    weights, states = torch.randn(2, steps, window, dtype=torch.double), torch.randn(2, steps, 3, dtype=torch.double)
    around = torch.nn.functional.pad(states, (0, 0, window // 2, window // 2))
    expected = sum(weights[:, :, i:i + 1] * around[:, i:i + steps] for i in range(window))
    torch.testing.assert_close(averages(weights, states), expected)


def test_local_attention_gradients_match_finite_differences():
    for normalize in ("softmax", "sum"):
        layer, states = attention(3, normalize), torch.randn(2, 4, 6, dtype=torch.double, requires_grad=True)
        assert torch.autograd.gradcheck(lambda s, a=layer: a(s, torch.tensor([4, 2])), [states])
        layer(states, torch.tensor([4, 2])).sum().backward()
        assert all(weight.grad.any() for weight in layer.parameters())


def test_weights_with_sum_near_zero_are_finite():
    layer = attention(3, "sum")
    torch.nn.init.zeros_(layer.score)
    assert torch.equal(layer(torch.randn(1, 4, 6).double(), torch.tensor([4])), torch.zeros(1, 4, 6).double())


@pytest.mark.parametrize("options", [{"attention_window": 4}, {"attention_window": 0}, {"attention_window": -1},
                                     {"attention_window": 3, "normalize": "max"}])
def test_local_attention_invalid_options(options):
    with pytest.raises(InputError):
        LocalAttention(6, 5, **options)
