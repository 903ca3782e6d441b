"""Filters, highway layers, windows of words, sigmoid layers, pauses and dropout; some are compared with loops."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch

from punc.base.errors import InputError
from punc.layers.convolution import Filters, Highway, outside
from punc.layers.lstm_stack import Dropout
from punc.layers.pauses import BOUNDS, CLASSES, PauseInput, PauseVectors
from punc.layers.window import FullyConnected, WindowInput, WordVectors, squared_error
from punc.tokens.store_set import StoreSet
from punc.tokens.vocabulary import END, Vocabulary
from punc.training.batching import stateful
from punc.training.optim import Optimizer


def test_filters_have_counts_of_the_papers():
    """The first list is from Kim et al. 2015 (table 2, large model). Gale & Parthasarathy 2017 have 1,650 filters."""
    assert [len(w) for w in Filters(15, 7, 50).weights] == [50, 100, 150, 200, 200, 200, 200]
    assert [len(w) for w in Filters(15, 7, 75).weights] == [75, 150, 225, 300, 300, 300, 300]
    assert Filters(15, 7, 75).size == 1650


def test_filters_invalid_sizes():
    with pytest.raises(InputError, match=r"^filters=0 is out of range; give 1 or more"):
        Filters(15, 7, 0)


def test_outside_first_end_belongs_to_text():
    a, b = 5, 6
    line = torch.tensor([[END, END, a, b, END, END, END, a, END], [a, b, a, END, a, END, END, END, END]])
    assert outside(line).int().tolist() == [[1, 0, 0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 0, 1, 1, 1]]


def test_highway_initially_carries_input():
    with torch.no_grad():
        layer, inputs = Highway(50), torch.randn(10, 50)
        layer.both.weight.zero_()
        layer.both.bias[:50].zero_()
        torch.testing.assert_close(layer(inputs), inputs * (1 - 1 / (1 + math.exp(2))))


VOCABULARY = Vocabulary(["<unk>", "</s>", *"abcdefgh"])


def numbered(window, slot_word):
    vectors = WordVectors(len(VOCABULARY), 1)
    vectors.weight.data = torch.arange(float(len(VOCABULARY)))[:, None]
    return WindowInput(vectors, window, slot_word)


def words_around(ids, slot, window, last):
    """Return the tokens in the window around a slot. The word before the slot has index `last` in the window."""
    indices = range(slot - last, slot - last + window)
    return [int(ids[index]) if 0 <= index < len(ids) else END for index in indices]


WINDOWS = [(window, slot_word) for window in (1, 2, 5) for slot_word in range(window + 1)]


@pytest.mark.parametrize(("window", "slot_word"), WINDOWS)
def test_window_input_stateful_batches_match_loop(window, slot_word):
    """In stateful batches, a row contains several streams one after another. No window contains words of two
    streams."""
    layer = numbered(window, slot_word)
    last = (slot_word or (window + 1) // 2) - 1
    assert layer.lookahead == window - 1 - last
    if layer.lookahead == 0 and window > 1:
        return  # without a look-ahead, there is no END between streams
    rng = np.random.default_rng(window)
    offsets = np.cumsum([0, 1, 7, 2, 12, 1, 1, 30, 5])
    ids, total = rng.integers(2, 10, offsets[-1]).astype(np.int32), int(offsets[-1])
    # The label of each slot is the slot's number, so that each window can be assigned to its slot.
    data = StoreSet(ids, np.arange(total), None, [""] * 8, offsets)
    found, state = {}, None
    for batch in stateful(data, layer.lookahead, batch_size=2, bptt=3):
        state = layer.initial_state(2) if batch.fresh else state
        vectors, state = layer(batch.tokens, state)
        assert vectors.shape == (*batch.tokens.shape, window, 1)
        for row, step in zip(*np.nonzero(batch.labels.numpy() >= 0)):
            found[int(batch.labels[row, step])] = vectors[row, step, :, 0].int().tolist()
    assert found.keys() == set(range(total))
    second_row = (total + 8 * layer.lookahead + 1) // 2  # the row begins inside a stream, so earlier words are unknown
    for begin, end in pairwise(offsets):
        for slot in range(begin, end):
            expected = words_around(ids[begin:end], slot - begin, window, last)
            stream = int(np.searchsorted(offsets, begin))
            if not 0 <= slot + (stream + 1) * layer.lookahead - second_row < window - 1:
                assert found[slot] == expected


@pytest.mark.parametrize(("window", "slot_word", "message"), [
    (0, 0, "window=0 is out of range; give 1 or more"),
    (5, 6, "slot_word=6 is not in the window; choose a word of the window, 1 to 5, or 0"),
    (5, -1, "slot_word=-1 is not in the window; choose a word of the window, 1 to 5, or 0")])
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
    expected = torch.zeros(10, 2)  # the vocabulary's words in the file get mean 0 and variance 1
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
    for text, expected in (("a 1 2\n", [[1., 2.]] * 2), ("a 1 2\nb 1 8\n", [[0., -1.], [0., 1.]])):
        (tmp_path / "vectors.txt").write_text(text)
        layer = WordVectors(len(VOCABULARY), 2, str(tmp_path / "vectors.txt"))
        layer.initialize_from_vocabulary(VOCABULARY)
        assert torch.equal(layer.weight[2:4], torch.tensor(expected))


torch.set_num_threads(1)


def by_loops(layers, inputs, kept=None, middle=0.0):
    """Return the output for one sample in double precision. `kept` contains the units of each hidden layer that are not
    dropped."""
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
def test_shared_dropout_drops_same_units_in_batch(monkeypatch, centred):
    """If units are dropped, outputs equal those of a network without these units, and their weights get no gradient."""
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


def test_squared_error_matches_loop():
    """Che et al. 2016, equation (1) without weight decay: half the squared distance between the posteriors and the
    one-hot label, averaged over slots."""
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


PAUSES = torch.tensor([[0.0, 1.5, torch.nan], [torch.nan, 0.25, 0.0]])


def test_pause_input_unknown_is_zero():
    inputs = PauseInput()(PAUSES, PAUSES)
    assert inputs.tolist() == [[[0.0], [0.0]], [[1.5], [0.25]], [[0.0], [0.0]]]


def test_pause_input_flag_tells_unknown_from_zero():
    inputs = PauseInput(unknown_flag=True)(PAUSES, PAUSES)
    assert inputs.tolist() == [[[0.0, 0.0], [0.0, 1.0]], [[1.5, 0.0], [0.25, 0.0]], [[0.0, 1.0], [0.0, 0.0]]]


@pytest.mark.parametrize("tell", [False, True])
def test_pause_input_none_is_unknown(tell):
    layer = PauseInput(unknown_flag=tell)
    assert torch.equal(layer(None, PAUSES), layer(torch.full((2, 3), torch.nan), PAUSES))
    assert layer(PAUSES, PAUSES).shape == (3, 2, layer.size)


def test_pause_vectors_classes():
    layer = PauseVectors(1)
    layer.weight.data = torch.arange(CLASSES, dtype=torch.float32)[:, None]
    pauses = torch.tensor([[torch.nan, 0.0, 0.019, BOUNDS[0], 0.5, BOUNDS[-1], 60.0]])
    found = layer(pauses, torch.zeros(1, 7))[0, :, 0].tolist()
    assert found == [0, 1, 1, 2, 6, CLASSES - 1, CLASSES - 1]


def test_pause_vectors_none_is_unknown():
    layer = PauseVectors(3)
    layer.weight.data.normal_()
    tokens = torch.zeros(2, 4)
    unknown = torch.full((2, 4), torch.nan)
    assert torch.equal(layer(None, tokens), layer(unknown, tokens))
    assert layer(None, tokens).shape == (2, 4, 3)


def test_pause_vectors_begin_as_zeros():
    assert not PauseVectors(4)(torch.rand(1, 5), torch.zeros(1, 5)).any()


def test_dropout_drops_and_scales_in_training_only():
    torch.manual_seed(1)
    layer, ones = Dropout(0.4), torch.ones(20000)
    left = layer(ones)
    assert set(left.tolist()) == {0.0, float(ones[0] / 0.6)}
    assert float(left.mean()) == pytest.approx(1, abs=0.03)
    assert torch.equal(layer.eval()(ones), ones)


@pytest.mark.parametrize("shape", [(), (0,), (3,), (5, 1, 7), (2, 4)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_dropout_all_shapes_and_types(shape, dtype):
    torch.manual_seed(1)
    ones = torch.ones(shape, dtype=dtype, requires_grad=True)
    left = Dropout(0.25)(ones)
    assert (left.shape, left.dtype) == (ones.shape, dtype)
    assert set(left.flatten().tolist()) <= {0.0, float(torch.tensor(1 / 0.75).to(dtype))}
    left.sum().backward()
    assert torch.equal(ones.grad, left)


def test_dropout_each_unit_by_itself():
    torch.manual_seed(1)
    dropped = Dropout(0.3)(torch.ones(20000, 4)) == 0  # one random number serves the four columns of a row
    patterns = (dropped * torch.tensor([1, 2, 4, 8])).sum(1).bincount(minlength=16) / 20000
    expected = [0.3 ** bin(n).count("1") * 0.7 ** (4 - bin(n).count("1")) for n in range(16)]
    assert patterns.tolist() == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(("rate", "mean"), [(0, 0), (2**-20, 0), (1 - 2**-20, 1)])
def test_dropout_extreme_rates(rate, mean):
    torch.manual_seed(1)
    assert float((Dropout(rate)(torch.ones(4000)) == 0).float().mean()) == pytest.approx(mean, abs=0.001)


@pytest.mark.parametrize("rate", [-0.1, 1.0, 80.0, float("nan")])
def test_dropout_invalid_rates(rate):
    with pytest.raises(InputError) as error:
        Dropout(rate)
    assert str(error.value) == f"dropout={rate} is out of range; give at least 0 and less than 1"
