"""Marginals of a linear chain compared with the enumeration of all label sequences."""

from itertools import pairwise, product

import numpy as np
import pytest

from punc.models.word_crf.chain import log_marginals


def enumerated(scores, transitions):
    n, labels = scores.shape
    sums = np.zeros((n, labels))
    for path in product(range(labels), repeat=n):
        weight = np.exp(sum(scores[t, y] for t, y in enumerate(path)) + sum(transitions[p] for p in pairwise(path)))
        for t, y in enumerate(path):
            sums[t, y] += weight
    return sums / sums.sum(axis=1, keepdims=True)


def drawn(n, labels, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(0, 2, (n, labels)), rng.normal(0, 1.5, (labels, labels))


@pytest.mark.parametrize("lengths", [[1], [6], [3, 1, 5, 2]])
def test_log_marginals_match_enumeration(lengths):
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    scores, transitions = drawn(offsets[-1], 3)
    expected = np.concatenate([enumerated(scores[b:e], transitions) for b, e in pairwise(offsets.tolist())])
    np.testing.assert_allclose(np.exp(log_marginals(scores, transitions, offsets)), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(("chunk_size", "context"), [(100, 40), (64, 30), (1000, 0)])
def test_log_marginals_nearly_same_in_chunks(chunk_size, context):
    offsets = np.array([0, 700, 701, 1000])
    scores, transitions = drawn(1000, 4)
    whole = log_marginals(scores, transitions, offsets, chunk_size=1 << 20)
    cut = log_marginals(scores, transitions, offsets, chunk_size, context)
    np.testing.assert_allclose(np.exp(cut), np.exp(whole), atol=1e-5)
    without = log_marginals(scores, transitions, offsets, 50, 0)
    assert np.abs(np.exp(without) - np.exp(whole)).max() > 1e-3  # so the context matters


def test_log_marginals_of_large_scores_are_finite():
    scores = np.array([[900., 0, -900], [0, 900, 1000], [-2000, 0, 0]])
    log_probs = log_marginals(scores, np.zeros((3, 3)), np.array([0, 3]))
    assert np.isfinite(log_probs).all()
    np.testing.assert_allclose(np.exp(log_probs), [[1, 0, 0], [0, 0, 1], [0, .5, .5]], atol=1e-6)
