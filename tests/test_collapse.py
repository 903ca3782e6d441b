"""Collapsed labels: what is parsed, and what is wrong."""

import numpy as np
import pytest

from punc.base.errors import InputError
from punc.data.labels import Label, LabelSet
from punc.scoring.collapse import merge, parse_collapse


@pytest.fixture
def labels():
    return LabelSet((Label("O", "w"), Label("COMMA", "w,"), Label("PERIOD", "w."), Label("QUESTION", "w?")))


@pytest.mark.parametrize(("text", "classes", "numbers"), [
    ("2-class", ("O", "PUNCTUATED"), [0, 1, 1, 1]),
    ("3-class:FULLSTOP=PERIOD+QUESTION", ("O", "COMMA", "FULLSTOP"), [0, 1, 2, 2]),
    ("period:NOT=O+COMMA+QUESTION", ("NOT", "PERIOD"), [0, 0, 1, 0]),
    ("x:A=COMMA+QUESTION,B=PERIOD", ("O", "A", "B"), [0, 1, 2, 1]),
])
def test_parse_collapse_classes(labels, text, classes, numbers):
    collapse = parse_collapse(text, labels)
    assert (collapse.classes, collapse.number.tolist()) == (classes, numbers)


@pytest.mark.parametrize("text", ["x:A=NONE", "x:A=COMMA,B=COMMA", "x:=COMMA", ":A=COMMA", "x:", "overall", "COMMA",
                                  "capital", "sentence"])
def test_parse_collapse_wrong_text_raises(labels, text):
    with pytest.raises(InputError, match="NAME:CLASS=LABEL"):
        parse_collapse(text, labels)


def test_merge_sums_counts_of_classes():
    labels = LabelSet((Label("O", "w"), Label("CAP", "W"), Label("COMMA", "w,"), Label("CAP_COMMA", "W,")))
    counts = np.arange(32).reshape(2, 4, 4)
    merged, classes = merge(counts, labels, "O=O+CAP,COMMA=COMMA+CAP_COMMA")
    assert merged[0].tolist() == [[0 + 1 + 4 + 5, 2 + 3 + 6 + 7], [8 + 9 + 12 + 13, 10 + 11 + 14 + 15]]
    assert merged.sum() == counts.sum()
    assert [(label.name, label.written) for label in classes] == [("O", "w"), ("COMMA", "w,")]


def test_merge_unknown_label_raises(labels):
    with pytest.raises(InputError, match="'NONE' is no label"):
        merge(np.zeros((4, 4)), labels, "O=NONE")
