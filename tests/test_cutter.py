"""Cutting passages into utterances: sizes, names, and marks at the beginning of the next passage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.text.cutter import Cutter
from punc.text.passages import Passage
from punc.text.prepared_parts import _renumber

STRENGTH = ["O", "COMMA", "PERIOD"]


def attach(label, lead):
    return max(label, lead, key=STRENGTH.index)


def cut(passages, size=2, **options):
    cutter = Cutter(size, attach, **options)
    found = [(u.id, u.stream, " ".join(u.words), " ".join(u.labels)) for u in cutter.cut(passages)]
    return found, cutter.dropped


def test_cut_fixed_size():
    passages = [Passage("a b c", "O O O", stream=""), Passage("d e", "O O", lead="COMMA"),
                Passage("f", "O", stream="x/y z")]
    assert cut(passages, 2) == ([
        ("00000001-00000001", "00000001", "a b", "O O"), ("00000001-00000002", "00000001", "c d", "COMMA O"),
        ("00000001-00000003", "00000001", "e", "O"), ("00000002_x_y_z-00000001", "00000002_x_y_z", "f", "O")], 0)


def test_cut_mark_reaches_last_word_of_full_utterance():
    passages = [Passage("a b", "O O", stream=""), Passage("", "", lead="COMMA"), Passage("c", "O", lead="PERIOD")]
    assert [u[2:] for u in cut(passages, 2)[0]] == [("a b", "O PERIOD"), ("c", "O")]


def test_cut_mark_does_not_cross_streams():
    passages = [Passage("a", "O", lead="COMMA", stream=""), Passage("b", "O", lead="PERIOD", stream="")]
    found, dropped = cut(passages)
    assert [u[3] for u in found] == ["O", "O"]
    assert dropped == 2


def test_cut_utterances_of_the_text():
    passages = [Passage("a b c", "O O O", stream="d", end=True), Passage("", "", end=True),
                Passage("e", "O", lead="COMMA"), Passage("f", "O", end=True),
                Passage("g", "O", lead="PERIOD", end=True)]
    assert cut(passages, 0) == ([
        ("00000001_d-00000001", "00000001_d", "a b c", "O O O"),
        ("00000001_d-00000003", "00000001_d", "e f", "O PERIOD"),
        ("00000001_d-00000004", "00000001_d", "g", "O")], 1)


def test_cut_independent_utterances_are_streams():
    passages = [Passage("a b c", "O O O", stream="", end=True), Passage("d", "O", lead="COMMA", end=True),
                Passage("e", "O", stream="", end=True)]
    assert cut(passages, 0, prefix="x_", independent=True) == ([
        ("x_00000001", "x_00000001", "a b c", "O O O"), ("x_00000002", "x_00000002", "d", "O"),
        ("x_00000003", "x_00000003", "e", "O")], 1)


def test_cut_pauses_with_words():
    passages = [Passage("a b c", "O O O", np.array([1, 2, np.nan], np.float32), stream=""),
                Passage("d", "O", np.array([4], np.float32), lead_pause=3.0)]
    found = list(Cutter(2, attach).cut(passages))
    assert [u.pauses.tolist() for u in found] == [[1, 2], [3, 4]]
    assert [u.pauses for u in Cutter(2, attach, pauses=False).cut(passages)] == [None, None]


STREAM = st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=9)


@given(STREAM, st.integers(1, 7))
def test_cut_keeps_all_words_and_sorts_ids(parts, size):
    passages, words, streams = [], [], {}
    for i, (count, new) in enumerate(parts):
        these = [f"{i}.{j}" for j in range(count)]
        words += these
        passages.append(Passage(" ".join(these), " ".join("O" * count), stream="" if new or i == 0 else None))
    found = list(Cutter(size, attach).cut(passages))
    assert [word for u in found for word in u.words] == words
    assert [u.id for u in found] == sorted({u.id for u in found})
    for utterance in found:
        streams.setdefault(utterance.stream, []).append(len(utterance.words))
        assert utterance.id.startswith(utterance.stream + "-")
    for lengths in streams.values():
        assert set(lengths[:-1]) <= {size}
        assert 1 <= lengths[-1] <= size


@pytest.mark.parametrize("name", ["a b", "a/b", "a:b", "a'b"])
def test_stream_name_is_fit_for_ids(name):
    assert cut([Passage("x", "O", stream=name)])[0][0][1] == "00000001_a_b"


def test_numbers_of_more_than_eight_digits(monkeypatch):
    """The names would not be in the order of the texts."""
    monkeypatch.setattr("punc.text.cutter.MOST", 2)
    with pytest.raises(InputError, match=r"^more than 2 texts or utterances to number; prepare several"):
        cut([Passage("a", "O", stream="x")] * 3)
    with pytest.raises(InputError, match="more than 2"):
        _renumber(b"00000001 a\n", "", 2)
    assert _renumber(b"00000001 a\n", "", 1) == b"00000002 a\n"
