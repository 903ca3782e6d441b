"""Bi-LSTM-A, FC-LSTM and Pause-Window agree with the equations in their papers."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from equations import lstm

from punc.base.errors import InputError
from punc.data.labels import Label, LabelSet
from punc.decoding.decode import log_posteriors
from punc.models import base
from punc.models.bi_lstm_attention import BLOCK, LocalAttention, averages
from punc.tokens.store import Store
from punc.tokens.store_set import StoreSet
from punc.tokens.vocabulary import END, Vocabulary
from punc.training.options import TrainingOptions
from punc.training.train import train

torch.set_num_threads(1)
VOCABULARY = Vocabulary(["<unk>", "</s>", *"abcdef"])
LABELS = LabelSet((Label("N", "w"), Label("C", "w、"), Label("P", "w。")))
OFFSETS = np.array([0, 7, 8, 10, 21])


def layer_of(weights, prefix):
    return [weights[f"{prefix}{part}_l0"] for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]


def model(**options):
    torch.manual_seed(4)
    made = base.create("bi_lstm_attention", VOCABULARY, LABELS, {"embedding_dim": 3, "hidden_dim": 4, **options})
    for weight in made.parameters():
        torch.nn.init.uniform_(weight, -1, 1)
    return made.eval()


def by_the_equations(weights, ids, reach, normalize):
    w = {name: weight.double().numpy() for name, weight in weights.items()}
    line = w["embedding.weight"][[*ids, END]]  # the backward direction starts with END
    ahead, back = layer_of(w, "lstms.forwards.0."), layer_of(w, "lstms.backwards.0.")
    h = np.concatenate([lstm(line, *ahead), lstm(line[::-1], *back)[::-1]], 1)[:-1]
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


def attention(window, normalize):
    torch.manual_seed(3)
    layer = LocalAttention(6, 5, window, normalize).double()
    for weight in layer.parameters():
        torch.nn.init.uniform_(weight, -1, 1)
    return layer


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


def texts():
    ids = np.random.default_rng(1).integers(2, len(VOCABULARY), OFFSETS[-1]).astype(np.int32)
    return StoreSet(ids, None, None, [*"abcd"], OFFSETS)


def fc_model(name, **options):
    torch.manual_seed(4)
    made = base.create(name, VOCABULARY, LABELS, {"embedding_dim": 3, "hidden_dim": 4, **options})
    for weight in made.parameters():
        torch.nn.init.uniform_(weight, -1, 1)
    return made.eval()


def fc_by_the_equations(weights, ids, ahead):
    vectors = weights["embedding.weight"].double().numpy()
    line = vectors[[*ids, *[END] * ahead]]
    context = [np.concatenate(line[t:t + ahead + 1]) for t in range(len(ids))]  # (6)
    weights_of_layer = (weight.double().numpy() for weight in layer_of(weights, "lstms.lstm."))
    return lstm(context, *weights_of_layer) @ weights["output.weight"].double().numpy().T \
        + weights["output.bias"].double().numpy()


@pytest.mark.parametrize("ahead", [0, 1, 2, 4])
def test_fc_lstm_matches_equations(ahead):
    made, data = fc_model("fc_lstm", ahead=ahead), texts()
    logits = [fc_by_the_equations(made.state_dict(), data.ids[a:b].tolist(), ahead) for a, b in pairwise(OFFSETS)]
    expected = np.exp(np.concatenate(logits))
    np.testing.assert_allclose(np.exp(log_posteriors(made, data)), expected / expected.sum(1, keepdims=True), atol=1e-5)
    assert made.lookahead == ahead


TWO_LABELS = LabelSet((Label("O", "w"), Label("COMMA", "w,"), Label("PERIOD", "w.")))


def make(**options):
    torch.manual_seed(1)
    return base.create("pause_window", VOCABULARY, TWO_LABELS, {"embedding_dim": 3, "hidden_dim": 4, **options}).eval()


def by_hand(model, ids, pauses, slot):
    """Return the logits of a slot. Outside the text, every token is END and every pause is 0."""
    n, inputs = model.window, []
    if model.pauses:
        for t in range(slot - n, slot + n + 1):
            pause = pauses[t] if 0 <= t < len(ids) else np.nan
            inputs.append(0.0 if np.isnan(pause) else pause)
    if model.embedding:
        for t in range(slot - n + 1, slot + n + 1):
            inputs += model.embedding.weight[ids[t] if 0 <= t < len(ids) else END].tolist()
    return model.output(model.hidden(torch.tensor(inputs)).tanh()).detach()


@pytest.mark.parametrize("options", [{}, {"window": 1}, {"window": 3}, {"words": False}, {"pauses": False}])
def test_logits_match_equations(options):
    model = make(**options)
    lengths = [7, 1, 4]
    ids = [np.random.default_rng(i).integers(2, 8, n) for i, n in enumerate(lengths)]
    pauses = [np.random.default_rng(i).choice(np.array([0, 0.3, 1.2, np.nan], np.float32), n)
              for i, n in enumerate(lengths)]
    data = StoreSet(np.concatenate(ids).astype(np.int32), None, np.concatenate(pauses), [*"xyz"],
                    np.cumsum([0, *lengths]))
    expected = torch.stack([by_hand(model, i, p, slot).log_softmax(0) for i, p in zip(ids, pauses)
                            for slot in range(len(i))])
    found = log_posteriors(model, data, chunk_size=0, batch_size=3)
    np.testing.assert_allclose(found, expected.numpy(), rtol=0, atol=1e-5)


def test_pauses_alone_are_learned(toy_store, tmp_path):
    train(toy_store, tmp_path, "pause_window", {"words": False, "hidden_dim": 8}, TrainingOptions(
        train_set="train_pause", dev_set="dev_pause", optimizer="adam", learning_rate=0.03, batch_size=10, epochs=5,
        chunk_size=32, context=8, threads=1))
    model, data = base.load(tmp_path), Store(toy_store).set("dev_pause")
    other = data._replace(ids=np.full_like(data.ids, 2))
    assert np.array_equal(log_posteriors(model, other), log_posteriors(model, data))
    assert np.mean((log_posteriors(model, data).argmax(1) == data.labels)[~np.isnan(data.pauses)]) > 0.95


def test_neither_words_nor_pauses_raises():
    with pytest.raises(InputError, match="words=false and pauses=false leave no input; set one of them to true"):
        make(words=False, pauses=False)
