"""Texts that repeat words: found by order, or by alignment."""

import numpy as np
from test_asr_formats import document

from punc.asr.matching import matched, word_bounds, word_texts

WORDS = document("one two, three")


def places(texts, found=WORDS):
    at = np.arange(len(texts))
    result = matched(texts, at, at + 1, found)
    return list(zip(result.starts.tolist(), result.first.tolist(), result.last.tolist()))


def test_matched_equal_texts_and_others():
    assert places(["one", "two,", "three"]) == [(0, 0, 1), (1, 1, 2), (2, 2, 3)]
    assert places(["One", "two", "more", "three!"]) == [(0, 0, 1), (1, 1, 2), (3, 2, 3)]
    assert places(["four"]) == places([]) == []


def test_matched_words_of_several_pieces():
    joined = WORDS._replace(pieces=["one", "two", "-three"], joined=np.array([False, False, True]))
    assert word_texts(joined.pieces, *word_bounds(joined.joined)) == ["one", "two-three"]
    assert places(["one", "two-three"], joined) == [(0, 0, 1), (1, 1, 3)]
    assert places(["one", "two", "-three"], joined) == [(0, 0, 1), (1, 1, 2), (2, 2, 3)]
