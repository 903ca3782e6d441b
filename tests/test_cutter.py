"""Passages are cut into utterances: ids, marks before the first word, undecided periods, and speaker turns."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.bin import main as command
from punc.data.datadir import DataDir
from punc.text.abbreviations import MARK, NO_MARK, STARTER, Abbreviations, Dot
from punc.text.formats.prose import speaker_turns
from punc.text.passages import Cutter, OpenDot, Passage, padded

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


@pytest.mark.parametrize("name", ["a b", "a/b", "a:b", "a'b"])
def test_stream_name_is_fit_for_ids(name):
    assert cut([Passage("x", "O", stream=name)])[0][0][1] == "00000001_a_b"


def test_padded_eight_digits():
    assert padded(99_999_999) == "99999999"
    with pytest.raises(InputError, match="more than 99,999,999"):
        padded(100_000_000)


LEADS = st.sampled_from(["", "", "COMMA", "PERIOD"])
PARTS = st.lists(st.tuples(st.integers(0, 4), LEADS, st.booleans(), st.booleans(), st.booleans()), max_size=12)


def plainly_cut(passages, size):
    """Cut with a simple loop. Return (id, words, labels, pauses) of each utterance, and the number of dropped marks."""
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
    assert all(u.pauses is None and u.turns is None for u in Cutter(size, attach, pauses=False).cut(passages))


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
    passages = [Passage("a b", "O O", stream="", speaker="A"), Passage("c", "O", speaker="B"),
                Passage("d", "O", stream=""), Passage("e", "O", speaker="A"), Passage("f g h", "O O O", speaker="B"),
                Passage("", "", speaker="C"), Passage("i", "O"), Passage("j", "O", speaker="C")]
    found = list(Cutter(2, attach, turns=True).cut(passages))
    flags = [(word, bool(flag)) for u in found for word, flag in zip(u.words, u.turns, strict=True)]
    assert [word for word, _ in flags] == list("abcdefghij")
    assert [word for word, flag in flags if flag] == ["b", "e", "h"]


LABELS = "O w\nCOMMA w, ,\nPERIOD w. .\nQUESTION w? ?\n"
LINES = "#doc one\nBefore anyone.\n#speaker Ann\nSo it begins,\nas it must.\n#speaker Bob\nDoes it?\n#speaker Bob\n" \
    "It does.\n#speaker Cy\n#speaker Ann\n(laughs) Well.\n#doc two\n#speaker Bob\nAnother.\n"


@pytest.mark.parametrize(("expression", "text", "line_start", "parts"), [
    ("", "#speaker A\nso", True, [(None, "#speaker A\nso", True)]),
    ("#speaker (.*)", "so\n#speaker A\nit\n#speaker B\nis\n", True,
     [(None, "so\n", True), ("A", "it\n", True), ("B", "is\n", True)]),
    # The text begins in the middle of a line.
    ("#speaker (.*)", "#speaker A\nso", False, [(None, "#speaker A\nso", False)]),
    ("([A-Z]+):", "ANN: so. he said: NO: no\nBOB: yes", True,
     [("ANN", " so. he said: NO: no\n", False), ("BOB", " yes", False)]),
    ("[A-Z]+:", "ANN: so", True, [("ANN:", " so", False)]),  # without a group, the whole match is the name
    ("([A-Z]+)?", "so\nit", True, [(None, "so\nit", True)]),  # an empty match is no speaker
])
def test_speaker_turns(expression, text, line_start, parts):
    assert list(speaker_turns(expression, text, line_start)) == parts


@given(st.lists(st.tuples(st.sampled_from("ABC"), st.integers(0, 4)), max_size=12), st.integers(1, 5))
def test_turn_flags_are_where_the_speakers_of_words_differ(turns, size):
    """The turn flags equal those found by brute force, even if some turns have no words. The last word's flag is false,
    because no word follows it."""
    passages = [Passage(" ".join("w" * words), " ".join("O" * words), speaker=speaker) for speaker, words in turns]
    passages.insert(0, Passage("", "", stream=""))
    found = [turn for utterance in Cutter(size, attach, turns=True).cut(passages) for turn in utterance.turns.tolist()]
    speakers = [speaker for speaker, words in turns for _ in range(words)]
    assert found == [a != b for a, b in pairwise([*speakers, *speakers[-1:]])]


def prepare(tmp_path, text, *options, name="data"):
    (tmp_path / "labels.txt").write_text(LABELS)
    (tmp_path / "text.txt").write_text(text)
    assert command.main(["prepare", "--format", "prose", "--labels", str(tmp_path / "labels.txt"), *options,
                         str(tmp_path / "text.txt"), str(tmp_path / name)]) == 0
    return {u.id: ([*u.words], u.turns) for u in DataDir(tmp_path / name).utterances()}


@pytest.mark.parametrize(("text", "options"), [
    (LINES, ["--speaker", "#speaker (.*)"]),
    (LINES.replace("#speaker Cy\n", "").replace("#speaker ", "").replace("Ann\n", "ANN: ").replace("Bob\n", "BOB: "),
     ["--speaker", "([A-Z]+):"])])
@pytest.mark.parametrize("cut", ["4", "50", "0"])
def test_prepare_speaker_keeps_turns(tmp_path, capsys, text, options, cut):
    """A change of speaker is in the slot before the new speaker's first word. The speaker of the words before the first
    name is unknown, so no change follows them."""
    found = prepare(tmp_path, text, "--document-prefix", "#doc", "--remove", r"\(.*?\)", "--utt-words", cut, *options)
    words = [word for some, _ in found.values() for word in some]
    assert " ".join(words) == "before anyone so it begins as it must does it it does well another"
    ends = [word for some, turns in found.values() for word, turn in zip(some, turns) if turn]
    assert ends == ["must", "does"]
    assert "2 changes of speaker" in capsys.readouterr().err


def test_prepare_speaker_lines_as_utterances_with_blank_lines(tmp_path):
    text = "#speaker A\nOne.\n\n#speaker B\n\nTwo.\n\n\nThree.\n#speaker A\n(laughs)\nFour.\n"
    found = prepare(tmp_path, text, "--speaker", "#speaker (.*)", "--utt-words", "0", "--remove", r"\(.*?\)")
    assert [(words, turns.tolist()) for words, turns in found.values()] == [
        (["one"], [True]), (["two"], [False]), (["three"], [True]), (["four"], [False])]


def test_prepare_speaker_that_never_matches_is_said(tmp_path, capsys):
    prepare(tmp_path, LINES, "--document-prefix", "#doc", "--skip-prefix", "#speaker", "--speaker", "NOBODY:")
    assert "0 changes of speaker" in capsys.readouterr().err


def test_prepare_speaker_words_and_labels_are_those_without_it(tmp_path):
    prepare(tmp_path, LINES, "--document-prefix", "#doc", "--skip-prefix", "#speaker", name="without")
    prepare(tmp_path, LINES, "--document-prefix", "#doc", "--speaker", "#speaker (.*)", name="with")
    assert not (tmp_path / "without" / "turns").exists()
    for name in ("text", "punct", "utt2spk", "spk2utt"):
        assert (tmp_path / "with" / name).read_bytes() == (tmp_path / "without" / name).read_bytes()


def test_prepare_speaker_bad_expression_is_an_error(tmp_path, capsys):
    (tmp_path / "labels.txt").write_text(LABELS)
    (tmp_path / "a.txt").write_text("so\n")
    assert command.main(["prepare", "--format", "prose", "--labels", str(tmp_path / "labels.txt"), "--speaker", "(",
                         str(tmp_path / "a.txt"), str(tmp_path / "out")]) == 1
    assert "--speaker '(' is not a regular expression" in capsys.readouterr().err
