"""Trigger n-grams compared with loops over all windows."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from punc.base.runs import find_sorted
from punc.models.word_crf.triggers import firing, ngram_keys, runs, select

V = 7


def text(lengths, seed=0):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return rng.integers(0, V, offsets[-1]).astype(np.int32), rng.integers(0, 3, offsets[-1]).astype(np.int8), offsets


def held(ids, offsets, n, before, after):
    """The n-grams, as tuples, in the window of each slot."""
    result = []
    for begin, end in pairwise(offsets.tolist()):
        for slot in range(begin, end):
            window = ids[max(slot - before + 1, begin):min(slot + after + 1, end)].tolist()
            result.append({tuple(window[i:i + n]) for i in range(len(window) - n + 1)})
    return result


def key(ngram):
    return sum(word * V ** place for place, word in enumerate(reversed(ngram)))


def test_ngram_keys_by_hand():
    assert ngram_keys(np.array([1, 2, 3]), 2, 10).tolist() == [12, 23]
    assert ngram_keys(np.array([1, 2]), 3, 10).tolist() == []
    assert find_sorted(np.array([2, 5]), np.array([5, 1, 9, 2])).tolist() == [1, -1, -1, 0]
    assert find_sorted(np.array([], np.int64), np.array([5])).tolist() == [-1]


def test_runs_by_hand():
    """A window has two words before and one after: slots 0 and 1 see the word at index 0, slots 0 to 2 that at 1."""
    found = runs(np.array([4, 4, 0, 0, 4]), np.array([0, 5]), 1, V, 2, 1)
    spans = list(zip(*(array.tolist() for array in found)))
    assert [span for span in spans if span[0] == 4] == [(4, 0, 1), (4, 2, 2), (4, 3, 4)]


@pytest.mark.parametrize(("before", "after"), [(1, 0), (3, 0), (2, 2), (1, 4), (30, 30)])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_runs_match_loop_over_windows(n, before, after):
    ids, _, offsets = text([12, 1, 2, 25, 3])
    expected = {(key(ngram), slot) for slot, ngrams in enumerate(held(ids, offsets, n, before, after))
                for ngram in ngrams}
    found = [(k, slot) for k, first, last in zip(*(a.tolist() for a in runs(ids, offsets, n, V, before, after)))
             for slot in range(first, last + 1)]
    assert len(found) == len(set(found))
    assert set(found) == expected


@pytest.mark.parametrize(("before", "after", "min_count"), [(3, 1, 1), (4, 4, 3), (2, 0, 6)])
def test_select_has_largest_mutual_information(before, after, min_count):
    ids, labels, offsets = text([60, 1, 80, 5], seed=3)
    slots, joint = Counter(), Counter()
    for n in (1, 2, 3):
        for label, ngrams in zip(labels.tolist(), held(ids, offsets, n, before, after)):
            slots.update(ngrams)
            joint.update((ngram, label) for ngram in ngrams)
    marks, total = Counter(labels.tolist()), len(ids)

    def information(ngram, mark):
        return (joint[ngram, mark] / total) / (slots[ngram] / total * (marks[mark] / total))

    expected = set()
    for mark in (1, 2):
        enough = [ngram for ngram in slots if joint[ngram, mark] >= min_count]
        assert len(enough) > 5
        # In steps of a billionth, so that rounding does not break ties.
        order = sorted(enough, key=lambda g: (-round(information(g, mark), 9), -joint[g, mark], len(g), key(g)))
        expected |= set(order[:5])
    found = select(ids, labels, offsets, V, 3, 5, before, after, min_count)
    assert [keys.tolist() for keys in found] == \
        [sorted(key(ngram) for ngram in expected if len(ngram) == n) for n in (1, 2, 3)]


def test_select_mark_without_triggers():
    ids, offsets = np.array([2, 3, 4, 5]), np.array([0, 4])
    found = select(ids, np.zeros(4, np.int8), offsets, V, 3, 10, 3, 1, 1)
    assert [len(keys) for keys in found] == [0, 0, 0]
    assert math.isclose(sum(map(len, select(ids, np.array([0, 1, 0, 0]), offsets, V, 3, 10, 3, 1, 1))), 6)


@pytest.mark.parametrize(("start", "stop"), [(0, 43), (0, 7), (5, 30), (12, 13), (40, 43)])
def test_firing_in_part_of_text(start, stop):
    ids, _, offsets = text([12, 1, 2, 25, 3])
    for n in (1, 2, 3):
        wanted = np.unique(ngram_keys(ids, n, V))[::2]
        expected = {(slot - start, key(ngram)) for slot, ngrams in enumerate(held(ids, offsets, n, 4, 2))
                    for ngram in ngrams if start <= slot < stop and key(ngram) in wanted}
        slots, keys = firing(ids, offsets, start, stop, n, V, 4, 2, wanted)
        assert len(slots) == len(expected)
        assert set(zip(slots.tolist(), keys.tolist())) == expected
