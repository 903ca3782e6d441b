"""Where sentences end, and which words belong together."""

import numpy as np
import pytest

from punc.data.labels import Label, LabelSet
from punc.subtitles.marks import MARK, NO_MARK, SENTENCE_END, marks_after, tied

LABELS = LabelSet((Label("O", "w"), Label("COMMA", "w,"), Label("PERIOD", "w."), Label("QUOTED", '"w?"'),
                   Label("FULL", "w。"), Label("DOUBLE", "w⁇"), Label("QUESTION", "w?")))


def marks_of(text):
    """The marks after written words; each word's label is that of its mark."""
    words = text.split()
    names = {".": "PERIOD", ",": "COMMA", "?": "QUESTION"}
    labels = np.array([LABELS.index(names.get(word[-1], "O")) for word in words], np.int64)
    return words, marks_after(words, labels, LABELS)


def test_marks_after_each_label():
    words = ["a", "b,", "c.", '"d?"', "e。", "f⁇"]
    marks = marks_after(words, np.array([0, 1, 2, 3, 4, 5]), LABELS)
    assert marks.tolist() == [NO_MARK, MARK, SENTENCE_END, SENTENCE_END, SENTENCE_END, SENTENCE_END]


@pytest.mark.parametrize(("text", "ends"), [
    ("so mister E. G. Wakefield spoke. Then", [5]),
    ("it is version 2. 5 of it.", [6]),
    ("it costs 2. Then 5. So", [2, 4]),
    ("is it E? Yes.", [2, 3]),
    ("go on. E.", [1, 2]),
    ("the J. is one.", [1, 3]),
    ("", []),
])
def test_marks_after_an_initial_or_inside_a_number_end_no_sentence(text, ends):
    _, marks = marks_of(text)
    assert np.flatnonzero(marks == SENTENCE_END).tolist() == ends


@pytest.mark.parametrize(("text", "expected"), [
    ("we met Ada Lovelace today", "we met Ada_Lovelace today"),
    ("we met Ada, Bob and I", "we met Ada, Bob and I"),
    ("mister E. G. Wakefield", "mister E._G._Wakefield"),
    ("on April 14 we sold 10 million of it", "on April_14_we sold 10_million of it"),
    ("in 2020, Intel grew", "in 2020, Intel grew"),
    ("one hundred and five, and twenty one million", "one_hundred_and_five, and twenty_one_million"),
    ("Two thousand and we and two", "Two_thousand and we and two"),
    ("он видел Анну Каренину", "он видел Анну_Каренину"),
])
def test_tied_words_of_names_and_numbers(text, expected):
    words, marks = marks_of(text)
    ties = tied(words, marks)
    assert "".join(word + ("_" if tie else " ") for word, tie in zip(words, ties)).rstrip(" _") == expected


def test_marks_after_a_word_before_an_empty_one():
    """JSON can have a word without characters."""
    assert marks_after(["E.", "", "3.", ""], np.array([2, 0, 2, 0]), LABELS).tolist()[:3:2] == [SENTENCE_END] * 2
