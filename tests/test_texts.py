"""Scores of plain texts."""

import math

import pytest

import punc
from punc.base.errors import InputError
from punc.data.labels import Label, LabelSet
from punc.scoring.texts import ENGLISH, read_slots, score_texts

REFERENCE = "So it begins, as it must. Does it end? No!"


def test_read_slots():
    words, slots = read_slots('"Well," he said -- no… Really?', ENGLISH)
    assert words == ["well", "he", "said", "no", "really"]
    assert [ENGLISH.names[slot] for slot in slots] == ["COMMA", "O", "COMMA", "PERIOD", "QUESTION"]


def test_equal_texts():
    found = score_texts(REFERENCE, REFERENCE)
    assert found["overall.F1"] == found["COMMA.F1"] == 100
    assert found["SER"] == found["Err"] == 0


def test_counts_by_hand():
    # Of four marks one is missing, one is another and one is too many; two are right.
    found = punc.score(REFERENCE, "So, it begins as it must. Does it end. No!")
    assert found["overall.P"] == found["overall.R"] == pytest.approx(100 * 2 / 4)
    assert found["Err"] == pytest.approx(100 * 3 / 10)
    assert found["SER"] == pytest.approx(100 * 3 / 4)
    assert found["COMMA.P"] == found["QUESTION.R"] == 0
    assert math.isnan(found["QUESTION.P"])


def test_case_and_words_may_differ():
    # `must` is deleted: its mark goes to the word before; an inserted word has no mark of the reference.
    found = score_texts(REFERENCE, "SO IT BEGINS, AS IT. DOES IT REALLY END? NO!")
    assert found["overall.F1"] == 100


def test_other_marks():
    labels = LabelSet((Label("O", "w"), Label("STOP", "w。", ("。",))))
    assert score_texts("a b。 c", "a b。 c。", labels)["STOP.P"] == 50


@pytest.mark.parametrize("texts", [("", "a"), ("a", " ... ")])
def test_no_words(texts):
    with pytest.raises(InputError, match="a text without words"):
        score_texts(*texts)
