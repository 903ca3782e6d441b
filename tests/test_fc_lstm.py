"""FC-LSTM compared with the equations of its paper, section 2.1."""

from itertools import pairwise

import numpy as np
import pytest
import torch

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
    w, u, a, b = (weights[f"{prefix}{part}_l0"].double().numpy() for part in
                  ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    h, c, outputs = np.zeros(u.shape[1]), np.zeros(u.shape[1]), []
    for x in inputs:
        i, f, g, o = np.split(w @ x + a + u @ h + b, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        outputs.append(h)
    return np.array(outputs)


def texts():
    """Four texts, shorter and longer than what the model reads ahead."""
    ids = np.random.default_rng(1).integers(2, len(VOCABULARY), OFFSETS[-1]).astype(np.int32)
    return StoreSet(ids, None, None, [*"abcd"], OFFSETS)


def model(name, **options):
    torch.manual_seed(4)
    made = base.create(name, VOCABULARY, LABELS, {"embedding_dim": 3, "hidden_dim": 4, **options})
    for weight in made.parameters():
        torch.nn.init.uniform_(weight, -1, 1)
    return made.eval()


def by_the_equations(weights, ids, ahead):
    vectors = weights["embedding.weight"].double().numpy()
    line = vectors[[*ids, *[END] * ahead]]
    context = [np.concatenate(line[t:t + ahead + 1]) for t in range(len(ids))]  # (6)
    return lstm(context, weights, "lstms.lstm.") @ weights["output.weight"].double().numpy().T \
        + weights["output.bias"].double().numpy()


@pytest.mark.parametrize("ahead", [0, 1, 2, 4])
def test_fc_lstm_matches_equations(ahead):
    made, data = model("fc_lstm", ahead=ahead), texts()
    logits = [by_the_equations(made.state_dict(), data.ids[a:b].tolist(), ahead) for a, b in pairwise(OFFSETS)]
    expected = np.exp(np.concatenate(logits))
    np.testing.assert_allclose(np.exp(log_posteriors(made, data)), expected / expected.sum(1, keepdims=True), atol=1e-5)
    assert made.lookahead == ahead
