"""The words around a slot compared with a loop; word vectors of a file."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from punc.base.errors import InputError
from punc.layers.window import WindowInput, WordVectors
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


def test_window_input_middle_word_by_hand():
    """The paper's five words: the mark follows the third one."""
    vectors, (state,) = numbered(5, 0)(torch.tensor([[2, 3, 4, 5, 6, END, END]]), numbered(5, 0).initial_state(1))
    assert vectors[0, 2:, :, 0].int().tolist() == [[END, END, 2, 3, 4], [END, 2, 3, 4, 5], [2, 3, 4, 5, 6],
                                                   [3, 4, 5, 6, END], [4, 5, 6, END, END]]
    assert state.tolist() == [[5, 6, END, END]]


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


def test_word_vectors_without_file_are_trained():
    layer = WordVectors(10, 2)
    layer.initialize_from_vocabulary(VOCABULARY)
    assert layer.weight.requires_grad
