"""Labels of speakers in texts, and the turns that `punc prepare` makes of them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.bin import main as command
from punc.data.datadir import DataDir
from punc.text.speakers import SpeakerLabels, TurnFlags

LABELS = "O w\nCOMMA w, ,\nPERIOD w. .\nQUESTION w? ?\n"
LINES = "#doc one\nBefore anyone.\n#speaker Ann\nSo it begins,\nas it must.\n#speaker Bob\nDoes it?\n#speaker Bob\n" \
    "It does.\n#speaker Cy\n#speaker Ann\n(laughs) Well.\n#doc two\n#speaker Bob\nAnother.\n"


@pytest.mark.parametrize(("expression", "text", "line_start", "parts"), [
    ("", "#speaker A\nso", True, [(None, "#speaker A\nso", True)]),
    ("#speaker (.*)", "so\n#speaker A\nit\n#speaker B\nis\n", True,
     [(None, "so\n", True), ("A", "it\n", True), ("B", "is\n", True)]),
    # It goes on with a line of the part before.
    ("#speaker (.*)", "#speaker A\nso", False, [(None, "#speaker A\nso", False)]),
    ("([A-Z]+):", "ANN: so. he said: NO: no\nBOB: yes", True,
     [("ANN", " so. he said: NO: no\n", False), ("BOB", " yes", False)]),
    ("[A-Z]+:", "ANN: so", True, [("ANN:", " so", False)]),  # without a group, all that matches is the name
    ("([A-Z]+)?", "so\nit", True, [(None, "so\nit", True)]),  # what matches nothing is no label
])
def test_split(expression, text, line_start, parts):
    assert list(SpeakerLabels(expression).split(text, line_start)) == parts


@given(st.lists(st.tuples(st.sampled_from("ABC"), st.integers(0, 4)), max_size=12), st.integers(1, 5))
def test_turn_flags_are_where_the_speakers_of_words_differ(turns, size):
    """By brute force, with turns without words, and however the words are cut: the last word waits for the next one."""
    flags, found, waiting = TurnFlags(), [], 0
    flags.begin_stream()
    for speaker, words in turns:
        flags.follow(speaker, words > 0)
        flags.append(words)
        waiting += words
        while waiting > size:
            found += flags.take(size).tolist()
            waiting -= size
    found += flags.take(waiting).tolist()
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
    """A change is in the slot before the first word of another speaker; before a stream's first label none is known."""
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


def test_prepare_speaker_in_jobs_is_the_same(tmp_path):
    text = "".join(f"#doc {i}\n#speaker A\nOne two, three.\n#speaker {'AB'[i % 2]}\nFour.\n" for i in range(30))
    prepare(tmp_path, text, "--document-prefix", "#doc", "--speaker", "#speaker (.*)")
    for job in "12":
        assert command.main(["prepare", "--format", "prose", "--labels", str(tmp_path / "labels.txt"),
                             "--document-prefix", "#doc", "--speaker", "#speaker (.*)", "--jobs", "2", "--job", job,
                             str(tmp_path / "text.txt"), str(tmp_path / f"part{job}")]) == 0
    assert command.main(["join", str(tmp_path / "joined"), str(tmp_path / "part1"), str(tmp_path / "part2")]) == 0
    names = sorted(path.name for path in (tmp_path / "data").iterdir())
    assert {"turns", "punct.labels"} < set(names)
    for name in names:
        assert (tmp_path / "joined" / name).read_bytes() == (tmp_path / "data" / name).read_bytes(), name


def test_prepare_speaker_bad_expression_is_an_error(tmp_path, capsys):
    (tmp_path / "labels.txt").write_text(LABELS)
    (tmp_path / "a.txt").write_text("so\n")
    assert command.main(["prepare", "--format", "prose", "--labels", str(tmp_path / "labels.txt"), "--speaker", "(",
                         str(tmp_path / "a.txt"), str(tmp_path / "out")]) == 1
    assert "--speaker '(' is not a regular expression" in capsys.readouterr().err


def test_turn_flags_unknown_first_speaker():
    flags = TurnFlags()
    flags.follow(None, True)
    flags.append(2)
    flags.follow("A", True)
    np.testing.assert_array_equal(flags.take(2), [False, False])
