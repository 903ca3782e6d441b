"""Cutting passages into utterances: sizes, names, and marks at the beginning of the next passage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.text.abbreviations import MARK, NO_MARK, STARTER, Abbreviations, Dot
from punc.text.cutter import Cutter, padded
from punc.text.passages import OpenDot, Passage
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


def test_padded_eight_digits():
    assert padded(99_999_999) == "99999999"
    with pytest.raises(InputError, match="more than 99,999,999"):
        padded(100_000_000)


LEADS = st.sampled_from(["", "", "COMMA", "PERIOD"])
PARTS = st.lists(st.tuples(st.integers(0, 4), LEADS, st.booleans(), st.booleans(), st.booleans()), max_size=12)


def plainly_cut(passages, size):
    """The utterances of numbered streams as (id, words, labels, pauses), and the marks that are dropped."""
    found, stream, streams, number, known, ended, dropped = [], "", 0, 1, False, False, 0
    for passage in passages:
        if passage.stream is not None:
            streams, number, known, ended = streams + 1, 1, False, False
            stream = f"{streams:08d}_{passage.stream}"
        if known and passage.lead:
            found[-1][2] = attach(found[-1][2], passage.lead)
        if known and passage.lead_pause is not None:
            found[-1][3] = passage.lead_pause
        dropped += bool(passage.lead) and not known
        if ended:
            number, known = number + 1, False
        for word, label, pause in zip(passage.words.split(), passage.labels.split(), passage.pauses):
            found.append([(stream, number), word, label, float(pause)])
            known = True
            if size and sum(row[0][0] == stream for row in found) % size == 0:
                number += 1
        ended = passage.end
    rows = {}
    for (name, number), *row in found:
        rows.setdefault(f"{name}-{number:08d}", []).append(tuple(row))
    return [(id, *map(list, zip(*some))) for id, some in rows.items()], dropped


@given(PARTS, st.integers(0, 4))
def test_cut_as_a_plain_one(parts, size):
    passages = []
    for i, (count, lead, silent, new, end) in enumerate(parts):
        words = " ".join(f"{i}.{j}" for j in range(count))
        passages.append(Passage(words, " ".join(["O"] * count), np.arange(count, dtype=np.float32) + i, lead,
                                0.5 if silent else None, f"s{i}" if new or i == 0 else None, end and not size))
    cutter = Cutter(size, attach)
    found = [(u.id, u.words, u.labels, u.pauses.tolist()) for u in cutter.cut(passages)]
    assert (found, cutter.dropped) == plainly_cut(passages, size)
    assert cutter.numbers == sum(passage.stream is not None for passage in passages)
    assert all(u.pauses is None and u.turns is None for u in Cutter(size, attach, pauses=False).cut(passages))


@pytest.mark.parametrize("ended", [True, False])
def test_numbers_of_names_that_are_used(ended):
    passages = [Passage("a", "O", stream="x", end=True), Passage("b", "O", stream="y", end=ended)]
    for options, numbers in (({}, 2), ({"numbered": False}, 0), ({"independent": True}, 2)):
        cutter = Cutter(0, attach, **options)
        ids = [u.id for u in cutter.cut(passages)]
        assert (len(ids), cutter.numbers) == (2, numbers)
    assert Cutter(0, attach, independent=True).numbers == 0


def test_cut_streams_without_numbers():
    passages = [Passage("a", "O", stream="x y"), Passage("b", "O", stream="z")]
    assert [u[1] for u in cut(passages, prefix="p_", numbered=False)[0]] == ["p_x_y", "p_z"]


OPEN = Passage("so it etc", "O O PERIOD", stream="", dot=OpenDot(Dot(STARTER, "etc.", "etc"), "O"))
ENDED = OPEN._replace(end=True)
HE, TOM, SHE = (Passage("w x y z", "O O O O", first=(word, "x", "y")) for word in ("He", "Tom", "she"))
QUOTE, LINE = Passage("", "", first=("“",)), Passage("", "", end=True)


@pytest.mark.parametrize(("passages", "ends", "independent"), [
    ([OPEN], True, False), ([OPEN, HE], True, False), ([OPEN, SHE], False, False), ([OPEN, TOM], False, False),
    ([OPEN, QUOTE], True, False), ([OPEN, QUOTE, SHE], False, False), ([OPEN, QUOTE, HE], True, False),
    ([OPEN, HE._replace(first=("_",))], True, False), ([OPEN, SHE._replace(stream="")], True, False),
    ([ENDED, TOM], True, False), ([ENDED, SHE], False, False), ([ENDED, LINE, SHE], True, False),
    ([ENDED, SHE], True, True), ([OPEN, SHE], False, True)])
def test_cut_open_dot_is_decided_by_what_follows(passages, ends, independent):
    words = Abbreviations({STARTER: ["etc."], "begins": ["he"]})
    cutter = Cutter(0 if passages[0].end else 9, attach, abbreviations=words, independent=independent)
    labels = [label for u in cutter.cut(passages) for label in u.labels]
    assert labels[:3] == ["O", "O", "PERIOD" if ends else "O"]
    assert set(labels[3:]) <= {"O"}
    assert cutter.dots == {f"{MARK if ends else NO_MARK}\tetc.": 1}


def test_cut_turns():
    """A word is flagged if another speaker says the next one of its stream; one who is not known is no other."""
    passages = [Passage("a b", "O O", stream="", speaker="A"), Passage("c", "O", speaker="B"),
                Passage("d", "O", stream=""), Passage("e", "O", speaker="A"), Passage("f g h", "O O O", speaker="B"),
                Passage("", "", speaker="C"), Passage("i", "O"), Passage("j", "O", speaker="C")]
    found = list(Cutter(2, attach, turns=True).cut(passages))
    flags = [(word, bool(flag)) for u in found for word, flag in zip(u.words, u.turns, strict=True)]
    assert [word for word, _ in flags] == list("abcdefghij")
    assert [word for word, flag in flags if flag] == ["b", "e", "h"]
