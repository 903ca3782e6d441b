"""Errors that fit: pairs against a set, the draw that is taken against a table, deletions."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.noise.confusions import Confusions
from punc.noise.draw import draw
from punc.noise.fluency import Fluency
from punc.noise.table import make_table

TYPES = {word: number for number, word in enumerate("abcdef", 1)}
A, B, C, D, E, F = TYPES.values()


def table(**outputs):
    """Of a word that is always wrong, by its outputs and how often each was counted."""
    count = sum(outputs.values())
    replaced = Counter({("b", tuple(words.replace("_", ""))): number for words, number in outputs.items()})
    return make_table(Confusions(runs=count, seen=Counter(b=count), replaced=replaced), TYPES, "")


def fluency(draws, *texts):
    found = Fluency(draws)
    for text in texts:
        found.add(np.array([TYPES.get(letter, 0) for letter in text], np.int64), np.arange(len(text)) == 0)
    return found


def drawn(found, noise, text, first=(0,), count=2000):
    """What stands in the place of each `b` of a text, drawn many times."""
    words = np.array([TYPES.get(letter, 0) for letter in text], np.int64)
    starts = np.isin(np.arange(len(words)), first)
    wrong = np.flatnonzero(words == B)
    rng = np.random.default_rng(1)
    return np.stack([found.draw(noise, words, starts, wrong, rng) for _ in range(count)])


@given(st.lists(st.tuples(st.integers(0, 40), st.booleans()), max_size=200))
def test_seen_is_a_set_of_pairs(text):
    words = np.array([word for word, _ in text], np.int64)
    first = np.array([begins for _, begins in text], bool)
    found = Fluency(2)
    found.add(words, first)
    pairs = {(x, y) for (x, _), (y, begins) in pairwise(text) if x and y and not begins}
    left, right = (grid.ravel() for grid in np.meshgrid(np.arange(41), np.arange(41)))
    assert {(x, y) for x, y, seen in zip(left, right, found.seen(left, right)) if seen} == pairs


def test_draw_takes_what_fits_on_both_sides():
    noise = table(c=1000, d=1000, e=1000)
    found = fluency(8, "acf", "adx", "xef")  # c fits on both sides, d and e on one
    assert (drawn(found, noise, "abf") == C).mean() == pytest.approx(1 - (2 / 3) ** 8, abs=0.02)
    assert set(drawn(found, noise, "abx").ravel().tolist()) <= {C, D, E}


def test_draw_nothing_is_beside_the_ends_of_streams():
    noise = table(c=1000, d=1000)
    found = fluency(8, "ac", "ca")  # beside `a` only c fits; at the begin of a stream nothing is before, nor after
    assert (drawn(found, noise, "ab") == C).mean() > 0.98
    assert (drawn(found, noise, "ab", first=(0, 1)) == C).mean() == pytest.approx(0.5, abs=0.05)
    assert (drawn(found, noise, "ba", first=(0, 1)) == C).mean() == pytest.approx(0.5, abs=0.05)
    assert (drawn(found, noise, "ba") == C).mean() > 0.98


def test_draw_of_several_words_the_first_and_the_last_make_pairs():
    noise = table(ce=1000, ec=1000)
    assert len(set(drawn(fluency(8, "ac", "ef"), noise, "abf").ravel().tolist())) == 2
    best = drawn(fluency(8, "ac", "ef"), noise, "abf").ravel()
    words = [tuple(noise.words[noise.ends[s] - noise.lengths[s]:noise.ends[s]].tolist()) for s in best]
    assert Counter(words).most_common(1)[0][0] == (C, E)
    assert Counter(words)[C, E] > 1900


def test_draw_leaves_deletions_as_they_are():
    noise = table(c=700, d=700, _=600)
    deletion = len(noise.errors)
    for text in ("acf", "af", "adf"):
        shares = [(drawn(fluency(draws, text), noise, "abf") == deletion).mean() for draws in (1, 8)]
        assert shares == pytest.approx([0.3, 0.3], abs=0.04)


def test_draw_once_is_what_the_table_draws():
    noise = table(c=700, d=700, ce=300, _=600)
    text = np.random.default_rng(2).integers(0, 7, 500)
    wrong = np.flatnonzero(text == B)
    found = fluency(1, "abcdef").draw(noise, text, np.zeros(500, bool), wrong, np.random.default_rng(5))
    assert found.tolist() == noise.draw(text[wrong], np.random.default_rng(5)).tolist()


def test_draw_in_a_text_keeps_what_is_wrong_and_what_is_deleted():
    noise = table(c=700, d=700, _=600)
    words = np.random.default_rng(2).integers(1, 7, 5000)
    marks, first = np.zeros(5000, bool), np.arange(5000) == 0
    plain, fitting = (draw(noise, words, marks, first, np.random.default_rng(5), fluency=found)
                      for found in (None, fluency(6, "acadafcecf")))
    assert (plain.kept == fitting.kept).all()
    assert plain.deleted == fitting.deleted
    assert (plain.source == fitting.source).all()
    assert (plain.words != fitting.words).any()
