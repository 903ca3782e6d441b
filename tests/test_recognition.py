"""Recognised words against spoken ones."""

import numpy as np
import pytest

from punc.results.recognition import nearest, recognise


def test_recognise_substituted_inserted_missing():
    spoken = [[*"abcdef"], [*"gh"]]
    words = ["a", "X", "c", "e", "f", "more", "g", "h"]  # b heard as X, d left out, more inserted
    found = recognise(spoken, words, np.array([0, 6, 8]))
    assert found.wrong.tolist() == [False, True, False, False, False, True, False, False]
    assert found.spoken == {1: "b"}
    assert found.missing == {2: "d"}
    assert found.wer == pytest.approx(100 * 3 / 8)
    # Slots 0 and 1 are next to X, 2 is where d is missing, 4 and 5 are next to "more".
    assert found.distance.tolist() == [0, 0, 0, 1, 0, 0, -1, -1]


def test_recognise_missing_before_first_word():
    found = recognise([[*"abc"]], ["c"], np.array([0, 1]))
    assert found.missing == {0: "a b"}
    assert not found.wrong.any()


def test_nearest_is_brute_force():
    rng = np.random.default_rng(1)
    for _ in range(50):
        marked = rng.random(rng.integers(1, 30)) < 0.2
        places = np.flatnonzero(marked)
        wanted = [min((abs(i - place) for place in places), default=-1) for i in range(len(marked))]
        assert nearest(marked).tolist() == wanted
