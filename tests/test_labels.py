"""Label sets: what is read as which label, how a label is written, and every way to get labels.txt wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.data.labels import Label, LabelSet

CHE = """\
# label   written  marks
O         w
COMMA     w,       , : - –
PERIOD    w.       . ; !
QUESTION  w?       ?
"""
CASED = """\
O         w
CAP       W
COMMA     w,       ,
CAPCOMMA  W,       ,
PERIOD    w.       . !
CAPPERIOD W.       . !
"""


@pytest.fixture
def read(tmp_path):
    def read(text):
        (tmp_path / "labels.txt").write_text(text)
        return LabelSet.read(tmp_path / "labels.txt")
    return read


def test_read(read):
    labels = read(CHE)
    assert labels.names == ("O", "COMMA", "PERIOD", "QUESTION")
    assert [labels.index(name) for name in labels.names] == [0, 1, 2, 3]
    assert labels.marks == frozenset(",:-–.;!?")
    assert (len(labels), labels.cased, labels[2].mark, labels[0].mark) == (4, False, ".", "")
    with pytest.raises(KeyError):
        labels.index("COLON")


@pytest.mark.parametrize(("marks", "capital", "name"), [
    ("", False, "O"), (",", False, "COMMA"), ("–", False, "COMMA"), ("!", False, "PERIOD"), ("?", True, "QUESTION"),
    ("?!", False, "QUESTION"), ("!?", False, "QUESTION"), (",.", False, "PERIOD"), ('"', False, "O"),
    ('",', False, "COMMA"),
])
def test_reading(read, marks, capital, name):
    assert read(CHE).reading(marks, capital) == name


@pytest.mark.parametrize(("marks", "capital", "name"), [
    ("", False, "O"), ("", True, "CAP"), (",", False, "COMMA"), (",", True, "CAPCOMMA"), ("!,", True, "CAPPERIOD"),
    ('"', True, "CAP"), ('"', False, "O"),
])
def test_reading_with_capitals(read, marks, capital, name):
    assert read(CASED).cased
    assert read(CASED).reading(marks, capital) == name


def test_reading_ignores_marks_of_no_label(read):
    # The plain capital is the strongest label here.
    labels = read("O w\nCAPCOMMA W, ,\nCAP W\n")
    assert labels.reading('",', True) == "CAPCOMMA"
    assert labels.reading('"', True) == "CAP"


def test_reading_plain_label_with_marks(read):
    labels = read("O w -\nCAP W -\nCOMMA w, ,\n")
    assert (labels.reading("", True), labels.reading("-", True), labels.reading("", False)) == ("CAP", "CAP", "O")


def test_sentence_ends(read):
    """Labels that write a `.`, anywhere in their mark, or a `?`."""
    text = CASED + "ELLIPSIS w...  …\nDASH w-  -\nQUOTED w.\"  \"\n"
    assert read(text).sentence_ends == {"PERIOD", "CAPPERIOD", "ELLIPSIS", "QUOTED"}


def test_strongest(read):
    labels = read(CHE)
    assert labels.strongest(["COMMA", "QUESTION", "PERIOD"]) == "QUESTION"
    assert labels.strongest(["O", "COMMA"]) == "COMMA"
    assert labels.strongest([]) == "O"


@pytest.mark.parametrize(("written", "word", "result"), [
    ("w", "west", "west"), ("w,", "west", "west,"), ("W.", "über", "Über."), ("W", "ßa", "Ssa"), ("¿w?", "w", "¿w?"),
    ("W", "džep", "Džep"), ("W,", "McX", "McX,"), ("W", "", ""), ("W?", "日本", "日本?"), ("W", "West", "West"),
])
def test_label_write(written, word, result):
    assert Label("X", written).write(word) == result


@pytest.mark.parametrize(("text", "message"), [
    ("O w\nCOMMA\n", "labels.txt:2: not a label; write NAME, a pattern with one w or W, the marks"),
    ("O w\nCOMMA , ,\n", "labels.txt:2: not a label"),
    ("O w\nCOMMA ww, ,\n", "labels.txt:2: not a label"),
    ("O w\nCOMMA wW, ,\n", "labels.txt:2: not a label"),
    ("O w\n", "labels.txt: fewer than two labels"),
    ("", "labels.txt: fewer than two labels"),
    ("O w\nC w, ,\nC w. .\n", "labels.txt: a label name occurs twice"),
    ("O w\nC w, , .\nP w. .\n", "labels.txt: mark '.' is read as two labels"),
    ("C w, ,\nO w\n", "labels.txt: the first label, C, writes something; "),
    ("O w\r\nC w, ,\r\n", "labels.txt:1: a carriage return"),
])
def test_read_wrong_label_set(read, text, message):
    with pytest.raises(InputError) as error:
        read(text)
    assert message in str(error.value)


def test_read_bytes_that_are_not_text(tmp_path):
    (tmp_path / "labels.txt").write_bytes(b"O w\nCOMMA w, , \x96\n")
    with pytest.raises(InputError, match=r"labels\.txt:2: byte 12 is not UTF-8"):
        LabelSet.read(tmp_path / "labels.txt")


NAMES = st.lists(st.text("ABCÄ日", min_size=1, max_size=3), min_size=2, max_size=5, unique=True)


@given(NAMES, st.data())
def test_write_and_read_back(tmp_path_factory, names, data):
    marks = data.draw(st.lists(st.sampled_from(",.;:!?-–。、"), min_size=len(names), max_size=len(names), unique=True))
    patterns = [data.draw(st.sampled_from(["w{}", "W{}"])).format(mark) for mark in marks]
    labels = LabelSet((Label(names[0], "w"), *map(Label, names[1:], patterns[1:], zip(marks[1:]))))
    path = tmp_path_factory.mktemp("labels") / "labels.txt"
    labels.write(path)
    assert LabelSet.read(path) == labels
    for label in labels:
        assert labels.reading(label.marks, label.capital) == label.name


def test_label_set_of_more_labels_than_a_byte_holds(tmp_path):
    lines = ["O w", *(f"L{i} w{chr(200 + i)}" for i in range(127))]
    (tmp_path / "labels.txt").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InputError, match=r"labels\.txt: more than 127 labels; use fewer"):
        LabelSet.read(tmp_path / "labels.txt")
    (tmp_path / "labels.txt").write_text("\n".join(lines[:-1]), encoding="utf-8")
    assert len(LabelSet.read(tmp_path / "labels.txt")) == 127
