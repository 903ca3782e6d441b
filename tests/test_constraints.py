"""The best allowed labels against a search of all sequences, and the case rules of a label set."""

from itertools import pairwise, product

import numpy as np
import pytest

from punc.data.labels import Label, LabelSet
from punc.decoding.constraints import SEARCH_BATCH, case_rules, constrained, has_case

CASED = LabelSet((Label("O", "w"), Label("CAP", "W"), Label("COMMA", "w,", (",",)), Label("CAP_COMMA", "W,", (",",)),
                  Label("PERIOD", "w.", (".",)), Label("CAP_PERIOD", "W.", (".",))))
PLAIN = LabelSet((Label("O", "w"), Label("PERIOD", "w.", (".",))))


def drawn(n, labels, seed=0):
    log_probs = np.random.default_rng(seed).normal(0, 1.5, (n, labels))
    return log_probs - np.log(np.exp(log_probs).sum(1, keepdims=True))


def searched(log_probs, allowed, begin, free):
    """The best of all sequences of one stream."""
    best, at = -np.inf, None
    for path in product(range(log_probs.shape[1]), repeat=len(log_probs)):
        if (free[0] or begin[path[0]]) and all(free[t] or allowed[p] for t, p in enumerate(pairwise(path), 1)):
            value = sum(log_probs[t, y] for t, y in enumerate(path))
            if value > best:
                best, at = value, path
    return at


@pytest.mark.parametrize("seed", range(6))
def test_constrained_is_the_best_allowed_sequence(seed):
    offsets = np.array([0, 6, 6, 7, 13, 16])
    log_probs, (allowed, begin) = drawn(16, len(CASED), seed), case_rules(CASED)
    free = np.random.default_rng(seed).random(16) < (seed % 3) / 4
    found = constrained(log_probs, offsets, allowed, begin, free)
    for b, e in pairwise(offsets.tolist()):
        if e > b:
            assert tuple(found[b:e]) == searched(log_probs[b:e], allowed, begin, free[b:e])
    assert seed or (found != log_probs.argmax(1)).any()


def test_constrained_rules_without_a_label_allowed_everywhere():
    """No label twice in a row: every stream is one stretch."""
    allowed, begin, offsets = ~np.eye(3, dtype=bool), np.array([False, True, True]), np.array([0, 7, 15])
    log_probs = drawn(15, 3)
    found = constrained(log_probs, offsets, allowed, begin)
    for b, e in pairwise(offsets.tolist()):
        assert tuple(found[b:e]) == searched(log_probs[b:e], allowed, begin, np.zeros(e - b, bool))


def test_constrained_long_stream_of_many_stretches_agrees_with_one_search():
    log_probs, (allowed, begin) = drawn(30_000, len(CASED)), case_rules(CASED)
    found = constrained(log_probs, np.array([0, 30_000]), allowed, begin)
    best, back = np.where(begin, log_probs[0], -np.inf), []
    for t in range(1, len(log_probs)):
        step = best[:, None] + np.where(allowed, 0, -np.inf)
        back.append(step.argmax(0))
        best = step.max(0) + log_probs[t]
    path = [int(best.argmax())]
    for before in reversed(back):
        path.append(int(before[path[-1]]))
    np.testing.assert_array_equal(found, path[::-1])
    assert (found != log_probs.argmax(1)).sum() > 2 * SEARCH_BATCH


def test_constrained_keeps_allowed_labels_and_changes_the_least_probable():
    allowed, begin = case_rules(CASED)
    sure = np.log(np.full((4, 6), 0.02) + 0.88 * np.eye(6)[[1, 4, 1, 0]])
    assert constrained(sure, np.array([0, 4]), allowed, begin).tolist() == [1, 4, 1, 0]
    sure[2] = np.log([0.5, 0.3, 0.05, 0.05, 0.05, 0.05])  # a word after a period, probably without a capital
    assert constrained(sure, np.array([0, 4]), allowed, begin).tolist() == [1, 4, 1, 0]
    sure[1] = np.log([0.4, 0.05, 0.02, 0.02, 0.49, 0.02])  # and now the period is not sure either
    assert constrained(sure, np.array([0, 4]), allowed, begin).tolist() == [1, 0, 0, 0]
    assert constrained(sure, np.array([0, 4]), allowed, begin, np.array([0, 0, 1, 0], bool)).tolist() == [1, 4, 0, 0]


def test_case_rules_with_and_without_capitals():
    allowed, begin = case_rules(CASED)
    capital = [False, True] * 3
    assert begin.tolist() == capital
    assert allowed[CASED.index("PERIOD")].tolist() == allowed[CASED.index("CAP_PERIOD")].tolist() == capital
    assert allowed[:4].all()
    allowed, begin = case_rules(PLAIN)
    assert allowed.all()
    assert begin.all()


def test_has_case_of_tokens():
    tokens = ["<unk>", "</s>", "japan", "1996", "日本", "'s", "ça", "ß", "ñu", "3rd", "-"]
    assert has_case(tokens).tolist() == [True, False, True, False, False, False, True, True, True, False, False]


def test_constrained_empty_streams():
    assert constrained(np.zeros((0, 2)), np.array([0]), *case_rules(PLAIN)).shape == (0,)
    assert constrained(np.zeros((0, 2)), np.array([0, 0]), *case_rules(PLAIN)).shape == (0,)


def test_constrained_impossible_rules_are_an_error():
    with pytest.raises(ValueError, match="no label may follow"):
        constrained(np.zeros((1, 2)), np.array([0, 1]), np.array([[True, True], [False, False]]), np.ones(2, bool))
