"""Window models: the words around a slot, word vectors, sigmoid layers and the cost, compared with loops."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch

from punc.base.errors import InputError
from punc.layers.window import FullyConnected, WindowInput, WordVectors, squared_error
from punc.tokens.batches import stateful
from punc.tokens.store_set import StoreSet
from punc.tokens.vocabulary import END, Vocabulary
from punc.training.optim import Optimizer

VOCABULARY = Vocabulary(["<unk>", "</s>", *"abcdefgh"])


def numbered(window, slot_word):
    """A window in which the vector of a token is its id."""
    vectors = WordVectors(len(VOCABULARY), 1)
    vectors.weight.data = torch.arange(float(len(VOCABULARY)))[:, None]
    return WindowInput(vectors, window, slot_word)


def words_around(ids, slot, window, last):
    """The tokens of a window in which the word before the slot has index `last`."""
    indices = range(slot - last, slot - last + window)
    return [int(ids[index]) if 0 <= index < len(ids) else END for index in indices]


WINDOWS = [(window, slot_word) for window in (1, 2, 3, 5, 8) for slot_word in range(window + 1)]


@pytest.mark.parametrize(("window", "slot_word"), WINDOWS)
def test_window_input_stateful_batches_match_loop(window, slot_word):
    """In stateful batches, streams follow each other in a row: no window has a word of another stream."""
    layer = numbered(window, slot_word)
    last = (slot_word or (window + 1) // 2) - 1
    assert layer.lookahead == window - 1 - last
    if layer.lookahead == 0 and window > 1:
        return  # no END is between the streams of a row then, for any model
    rng = np.random.default_rng(window)
    offsets = np.cumsum([0, 1, 7, 2, 12, 1, 1, 30, 5])
    ids, total = rng.integers(2, 10, offsets[-1]).astype(np.int32), int(offsets[-1])
    # The label of each slot is the slot's number, so that each window is known by its label.
    data = StoreSet(ids, np.arange(total), None, [""] * 8, offsets)
    found, state = {}, None
    for batch in stateful(data, layer.lookahead, batch_size=2, bptt=3):
        state = layer.initial_state(2) if batch.fresh else state
        vectors, state = layer(batch.tokens, state)
        assert vectors.shape == (*batch.tokens.shape, window, 1)
        for row, step in zip(*np.nonzero(batch.labels.numpy() >= 0)):
            found[int(batch.labels[row, step])] = vectors[row, step, :, 0].int().tolist()
    assert found.keys() == set(range(total))
    second_row = (total + 8 * layer.lookahead + 1) // 2  # it starts inside a stream, without the words before it
    for begin, end in pairwise(offsets):
        for slot in range(begin, end):
            expected = words_around(ids[begin:end], slot - begin, window, last)
            stream = int(np.searchsorted(offsets, begin))
            if not 0 <= slot + (stream + 1) * layer.lookahead - second_row < window - 1:
                assert found[slot] == expected


@pytest.mark.parametrize(("window", "slot_word", "message"), [
    (0, 0, "window=0; it is 1 or more"),
    (5, 6, "slot_word=6; choose a word of the window, 1 to 5, or 0"),
    (5, -1, "slot_word=-1; choose a word of the window, 1 to 5, or 0")])
def test_window_input_invalid_arguments(window, slot_word, message):
    with pytest.raises(InputError) as error:
        numbered(window, slot_word)
    assert str(error.value) == message


@pytest.mark.parametrize("train", [False, True])
def test_word_vectors_of_file_change_only_if_trained(tmp_path, train):
    path = tmp_path / "vectors.txt"
    path.write_text("a 1 2\nb 3 8\nz 5 6\n")
    layer = WordVectors(len(VOCABULARY), 2, str(path), train)
    layer.initialize_from_vocabulary(VOCABULARY)
    expected = torch.zeros(10, 2)  # the words of the vocabulary that the file has, brought to mean 0 and variance 1
    expected[2:4] = torch.tensor([[-1., -1.], [1., 1.]])
    assert torch.equal(layer.weight, expected)
    assert layer.weight.requires_grad == train
    if train:
        updates = Optimizer(layer, "sgd", 1.0)
        layer(torch.tensor([2])).sum().backward()
        updates.step()
        expected[2] -= 1
        assert torch.equal(layer.weight, expected)


def test_word_vectors_normalize_without_variance(tmp_path):
    """All words have the same value, or there is only one word."""
    for text, expected in (("a 1 2\n", [[1., 2.]] * 2), ("a 1 2\nb 1 8\n", [[0., -1.], [0., 1.]])):
        (tmp_path / "vectors.txt").write_text(text)
        layer = WordVectors(len(VOCABULARY), 2, str(tmp_path / "vectors.txt"))
        layer.initialize_from_vocabulary(VOCABULARY)
        assert torch.equal(layer.weight[2:4], torch.tensor(expected))


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
@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_eval_matches_equations_without_dropout(dropout, centred):
    torch.manual_seed(1)
    layer, inputs = FullyConnected((7, 5, 9, 3), dropout, centred).train(dropout == 0), torch.randn(2, 4, 7)
    found = layer(inputs)
    assert found.shape == (2, 4, 3)
    for row, sample in zip(found.flatten(0, 1), inputs.flatten(0, 1)):
        expected = by_loops(layer.layers, sample, middle=centred / 2)
        np.testing.assert_allclose(row.detach().numpy(), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("centred", [False, True])
def test_dropout_drops_same_units_in_batch(monkeypatch, centred):
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


def test_dropout_keeps_mean_output():
    torch.manual_seed(1)
    layer, inputs = FullyConnected((6, 20, 3), 0.25), torch.randn(1, 6)
    expected = layer.eval()(inputs)
    layer.train()
    with torch.no_grad():
        outputs = torch.stack([layer(inputs) for _ in range(2000)])
    assert outputs.std(0).min() > 0.05
    torch.testing.assert_close(outputs.mean(0), expected, rtol=0, atol=0.06)


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


def test_squared_error_matches_loop():
    """Che et al. 2016, equation (1): half the squared distance of posteriors and one-hot label, the mean over slots."""
    torch.manual_seed(1)
    logits, labels = torch.randn(2, 3, 3), torch.tensor([[0, -1, 2], [1, 1, -1]])
    total = count = 0
    for row in range(2):
        for step in range(3):
            label = int(labels[row, step])
            if label >= 0:
                posteriors = logits[row, step].softmax(0).tolist()
                error = sum((p - (i == label)) ** 2 for i, p in enumerate(posteriors)) / 2
                total, count = total + error, count + 1
    assert float(squared_error(logits, labels)) == pytest.approx(total / count, rel=1e-5)
