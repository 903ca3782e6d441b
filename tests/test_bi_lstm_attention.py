"""Bi-LSTM-A compared with the equations of its paper, section 2.3."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from punc.base.errors import InputError
from punc.data.labels import Label, LabelSet
from punc.decoding.decode import log_posteriors
from punc.models import base
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
                       {"embedding_dim": 3, "hidden_dim": 4, "attention_dim": 5, **options})
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


@pytest.mark.parametrize("options", [{"attention_window": 2}, {"normalize": "mean"}])
def test_bi_lstm_attention_invalid_options(options):
    with pytest.raises(InputError):
        model(**options)
