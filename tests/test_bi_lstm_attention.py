"""Bi-LSTM-A and its local attention compared with the equations of its paper, section 2.3."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch

from punc.base.errors import InputError
from punc.data.labels import Label, LabelSet
from punc.decoding.decode import log_posteriors
from punc.models import base
from punc.models.bi_lstm_attention import BLOCK, MIN_SUM, LocalAttention, averages
from punc.tokens.store_set import StoreSet
from punc.tokens.vocabulary import END, Vocabulary

torch.set_num_threads(1)
VOCABULARY = Vocabulary(["<unk>", "</s>", *"abcdef"])
LABELS = LabelSet((Label("N", "w"), Label("C", "w、"), Label("P", "w。")))
OFFSETS = np.array([0, 7, 8, 10, 21])


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


def lstm(inputs, weights, prefix):
    """(T, D) → (T, H), step by step, gates in the order i, f, g, o."""
    w, u, a, b = (weights[f"{prefix}.{part}_l0"] for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    h, c, outputs = np.zeros(u.shape[1]), np.zeros(u.shape[1]), []
    for x in inputs:
        i, f, g, o = np.split(w @ x + a + u @ h + b, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        outputs.append(h)
    return np.array(outputs)


def model(**options):
    torch.manual_seed(4)
    made = base.create("bi_lstm_attention", VOCABULARY, LABELS,
                       {"embedding_dim": 3, "hidden_dim": 4, **options})
    for weight in made.parameters():
        torch.nn.init.uniform_(weight, -1, 1)
    return made.eval()


def by_the_equations(weights, ids, reach, normalize):
    w = {name: weight.double().numpy() for name, weight in weights.items()}
    line = w["embedding.weight"][[*ids, END]]  # the backward direction starts with END
    h = np.concatenate([lstm(line, w, "lstms.forwards.0"), lstm(line[::-1], w, "lstms.backwards.0")[::-1]], 1)[:-1]
    logits = []
    for t in range(len(ids)):
        window = range(max(0, t - reach), min(len(ids), t + reach + 1))
        e = np.array([w["attention.score"] @ np.tanh(w["attention.own.weight"] @ h[t] + w["attention.other.weight"]
                                                     @ h[i]) for i in window])  # (14)
        e = np.exp(e) if normalize == "softmax" else e
        s = (e / e.sum()) @ h[list(window)]  # (13), (15)
        logits.append(w["output.weight"] @ s + w["output.bias"])
    return np.array(logits)


@pytest.mark.parametrize("normalize", ["softmax", "sum"])
@pytest.mark.parametrize("window", [1, 5, 31])
def test_bi_lstm_attention_matches_equations(window, normalize):
    made = model(attention_window=window, normalize=normalize)
    ids = np.random.default_rng(1).integers(2, len(VOCABULARY), OFFSETS[-1]).astype(np.int32)
    logits = [by_the_equations(made.state_dict(), ids[a:b].tolist(), window // 2, normalize)
              for a, b in pairwise(OFFSETS)]
    found = log_posteriors(made, StoreSet(ids, None, None, [*"abcd"], OFFSETS))
    expected = torch.tensor(np.concatenate(logits)).log_softmax(1).numpy()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)


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
