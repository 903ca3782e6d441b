"""Posteriors of hidden events, compared with the enumeration of all labellings."""

from itertools import pairwise, product

import numpy as np
import pytest

from punc.models.ngram import hidden_events
from punc.models.ngram.hidden_events import label_histories, log_posteriors, visible

EVENTS, BEGIN, END = 10, 20, 1  # tokens: words 0 … 3, label i is 10 + i


def toy(order, seed=0):
    """A model with random probabilities, a function of the last order − 1 tokens."""
    rng, table = np.random.default_rng(seed), {}

    def log_probs(history, tokens):
        assert history.shape[1] >= order - 1
        seen = [tuple(row[len(row) - order + 1:]) for row in history.tolist()]
        return np.array([[table.setdefault((h, token), np.log(rng.uniform(0.001, 1))) for token in row]
                         for h, row in zip(seen, tokens.tolist())])
    return log_probs


def enumerate_all(words, labels, order, log_probs):
    """Posteriors of one text as sums over all its labellings."""
    sums = np.zeros((len(words), labels))
    for labelling in product(range(labels), repeat=len(words)):
        tokens = [-1] * order + [BEGIN]
        first = len(tokens)
        for word, label in zip(words, labelling):
            tokens += [word, EVENTS + label] if label else [word]
        tokens.append(END)
        log = sum(log_probs(np.array([tokens[i - order:i]]), np.array([tokens[i:i + 1]]))[0, 0]
                  for i in range(first, len(tokens)))
        sums[np.arange(len(words)), labelling] += np.exp(log)
    return sums / sums.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("labels", [2, 3, 4])
def test_log_posteriors_match_enumeration(order, labels):
    log_probs, lengths = toy(order), [5, 1, 4] if labels < 4 else [4, 1, 3]
    offsets = np.cumsum([0, *lengths])
    words = np.random.default_rng(order).integers(0, 4, offsets[-1])
    found = log_posteriors(words, offsets, labels, order, log_probs, EVENTS, BEGIN, END)
    assert found.dtype == np.float32
    expected = [enumerate_all(words[b:e].tolist(), labels, order, log_probs) for b, e in pairwise(offsets.tolist())]
    np.testing.assert_allclose(np.exp(found), np.concatenate(expected), atol=1e-6)


def test_log_posteriors_same_in_chunks(monkeypatch):
    log_probs, words = toy(4), np.random.default_rng(0).integers(0, 4, 700)
    offsets = np.array([0, 300, 301, 700])
    whole = log_posteriors(words, offsets, 3, 4, log_probs, EVENTS, BEGIN, END)
    monkeypatch.setattr(hidden_events, "CHUNK_SIZE", 100)
    monkeypatch.setattr(hidden_events, "CONTEXT", 60)
    parts = log_posteriors(words, offsets, 3, 4, log_probs, EVENTS, BEGIN, END)
    np.testing.assert_allclose(np.exp(parts), np.exp(whole), atol=1e-5)


def test_log_posteriors_of_impossible_labels_are_finite():
    def log_probs(history, tokens):
        return np.where(tokens == EVENTS + 1, -2000.0, -1.0)
    found = log_posteriors(np.zeros(20, int), np.array([0, 20]), 3, 4, log_probs, EVENTS, BEGIN, END)
    assert np.isfinite(found).all()
    assert (found[:, 1] < -80).all()


def test_label_histories_are_what_the_model_sees():
    # Three tokens up to a word can be: three words; two words and the event before the first; a word, an event, a word.
    assert label_histories(3, 3) == [(0, 0), (0, 1), (0, 2), (1,), (2,)]
    assert [len(label_histories(3, labels)) for labels in (2, 3, 4)] == [3, 5, 7]
    assert label_histories(1, 3) == [()]
    assert visible((1, 2, 0), 3) == (1,)
    assert visible((0, 2, 1), 3) == (0, 2)
    assert visible((0, 0, 1), 3) == (0, 0)
