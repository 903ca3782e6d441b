"""CTMs read fast: the same words as line by line, the lines of each id, and errors with their lines."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.data.datadir import LATEST
from punc.timing import fast_ctm
from punc.timing.ctm import CtmIndex, read_ctm
from punc.timing.fast_ctm import CtmFile

KALDI = "a 1 0.00 0.50 one 0.90\na 1 0.50 0.25 <eps> 1.00\na 1 0.75 0.25 two 0.80\nb 1 0.10 0.20 drei 0.70\n"


def read(tmp_path, text):
    """The ids, and their lines: each id is a group."""
    (tmp_path / "ctm").write_bytes(text if isinstance(text, bytes) else text.encode())
    with CtmFile(tmp_path / "ctm") as ctm:
        groups = {}
        for run in ctm.runs():
            groups.setdefault(run.id, []).append(run)
        return list(groups), ctm.read(list(groups.values()))


def test_read_columns(tmp_path):
    ids, timed = read(tmp_path, KALDI)
    assert ids == ["a", "b"]
    assert timed.heads == [b"a 1 0.00 0.50", b"a 1 0.75 0.25", b"b 1 0.10 0.20"]
    assert timed.words == ["one", "two", "drei"]
    assert timed.tails == [b" 0.90", b" 0.80", b" 0.70"]
    np.testing.assert_allclose(timed.begins, [0, 0.75, 0.1])
    np.testing.assert_allclose(timed.ends, [0.5, 1.0, 0.3])
    assert timed.bounds.tolist() == [0, 2, 3]
    assert np.isnan(timed.closes).all()


@pytest.mark.parametrize("tail", ["", " 0.9", " 0.9 lex", " 0.9 lex spk"])
def test_columns_of_kaldis_form_are_read_at_once(tail):
    columns = fast_ctm._columns(f"a 1 0.00 0.50 one{tail}\nä 2 0.50 0.25 zwei{tail}\n".encode())
    assert columns is not None  # what it does not read, `ctm` reads, many times slower
    assert columns.heads == [b"a 1 0.00 0.50", "ä 2 0.50 0.25".encode()]
    assert (columns.words, columns.tails) == (["one", "zwei"], [tail.encode()] * 2)
    assert (columns.begins.tolist(), columns.durations.tolist()) == ([0, 0.5], [0.5, 0.25])


@pytest.mark.parametrize("text", ["a 1 0 1 one\n", "a 1 0 0 one\nb 1 0 1 two\n"])
def test_columns_of_one_line_and_of_no_duration_are_read_at_once(text):
    assert fast_ctm._columns(text.encode()).words == [line.split()[4] for line in text.splitlines()]


def test_read_kaldis_form_at_once(tmp_path, monkeypatch):
    """Also a file without a line end, and runs in another order than in the file."""
    monkeypatch.setattr(CtmFile, "_line_by_line", None)
    for text in (KALDI, KALDI[:-1]):
        (tmp_path / "ctm").write_text(text)
        with CtmFile(tmp_path / "ctm") as ctm:
            assert ctm.read([[run] for run in reversed(list(ctm.runs()))]).words == ["drei", "one", "two"]


def test_read_nothing(tmp_path):
    (tmp_path / "ctm").write_text(KALDI)
    with CtmFile(tmp_path / "ctm") as ctm:
        timed = ctm.read([])
    assert (timed.words, timed.begins.tolist(), timed.ends.tolist(), timed.bounds.tolist()) == ([], [], [], [0])
    assert ctm._file.closed


def test_read_lines_without_words(tmp_path):
    ids, timed = read(tmp_path, "a 1 * * <ALT_BEGIN>\na 1 * * <ALT_END>\n")
    assert (ids, timed.words, timed.bounds.tolist()) == (["a"], [], [0, 0])


def test_read_other_columns_line_by_line(tmp_path):
    _, timed = read(tmp_path, "a 1 0 1 one 0.9 lex\na 1 1 1 two\n")
    assert timed.tails == [b" 0.9 lex", b""]


def test_read_checks_each_group_by_itself(tmp_path):
    """Another id may begin before the end of the one above; within an id a second of overlap is allowed."""
    _, timed = read(tmp_path, "a 1 5 1 x\nb 1 0 2 x\nb 1 1 1 y\nc 1 0 9 x\n")
    assert timed.bounds.tolist() == [0, 1, 3, 4]
    for lines, said in (("b 1 2 1 y\nb 1 1 1 z\n", ":4: at 1.00 s a word of 'b' begins before the one above"),
                        ("b 1 0 3 y\nb 1 1.5 1 z\n", ":4: at 1.50 s a word of 'b' overlaps the one before")):
        with pytest.raises(InputError, match=said):
            read(tmp_path, "a 1 0 1 x\nb 1 0 0 x\n" + lines)


@pytest.mark.parametrize("text", [
    "a 1 0 1 one 0.9 lex\na 1 1 1 7\n",    # as many columns in all as two lines of six
    "a 1 0 1 one 0.9\na 1 1 1 two\nb 1 0 1 x 0.9 lex\n",
    "a 1 0 1\na 1 1 1\n", "a 1 0 1 one 0.9 2 3 4 5\n", "a 1 0 1 one x\n", "a 1 0 -1 one\n", "a 1 -1 1 one\n",
    "a 1 0 1 one 0.9 lex spk 9\n", ";; 1 0 1 one\n", "a 1 0 1 <ALT>\n", "a 1 0 1 one\na 1 1e9 1 two\n",
    "a 1 0 1 one\na 1 1 1e9 two\n", f"a 1 0 {LATEST} one\n", f"a 1 {LATEST} 0 one\n"])
def test_columns_of_other_lines_are_left_to_ctm(text):
    assert fast_ctm._columns(text.encode()) is None


@pytest.mark.parametrize("text", [
    "a 1 0 0.5 one \na 1 0.5 0.5 two \n",                    # get_train_ctm.sh: a blank at the end, no confidence
    "a\t1  0 0.5 one\na 1 0.5 0.5 two",                      # no newline at the end
    ";; made by hand\na 1 0 0.5 one\n\n;; more\na 1 0.5 0.5 two\n",
    "a 1 0 0.5 one\na 1 0.5 0.5 two 0.7\n",                  # a column more
    "a 1 0 0.5 <eps>\na 1 0 0.5 one NA\na 1 0.5 0.5 two NA lex\n",
    "a 1 * * <ALT_BEGIN>\na 1 0 0.5 one\na 1 * * <ALT>\na 1 0 0.5 won\na 1 * * <ALT_END>\na 1 0.5 0.5 two\n",
])
def test_read_other_forms(tmp_path, text):
    ids, timed = read(tmp_path, text)
    assert (ids, timed.words, timed.begins.tolist()) == (["a"], ["one", "two"], [0.0, 0.5])
    assert [head.split()[:1] for head in timed.heads] == [[b"a"]] * 2


def test_read_last_silence_and_groups_without_words(tmp_path):
    _, timed = read(tmp_path, "a 1 0 1 <sil>\nb 1 0 1 x\nb 1 1 0.5 <eps>\nc 1 0 1 y\n")
    assert timed.bounds.tolist() == [0, 0, 1, 2]
    np.testing.assert_array_equal(timed.closes, [1.0, 1.5, np.nan])


def test_batches_of_runs_have_about_as_many_lines(monkeypatch):
    monkeypatch.setattr(fast_ctm, "BATCH_LINES", 4)
    runs = [(number, fast_ctm.Run("a", "1", 0, 0, 1, lines)) for number, lines in enumerate([1, 2, 1, 2, 1, 9, 1])]
    assert [[number for number, _ in batch] for batch in fast_ctm._batches(runs)] == [[0, 1, 2], [3, 4, 5], [6]]


def test_runs_are_stretches_of_lines(tmp_path, monkeypatch):
    text = "".join(f"{id} 1 {i} 1 w\n" for i, id in enumerate("aaaaabbbaccccccccccccccccccccccccccccccccccccdä"))
    (tmp_path / "ctm").write_text(text)
    found = []
    for block in (1 << 20, 10, 60):
        monkeypatch.setattr(fast_ctm, "SCAN_BYTES", block)
        with CtmFile(tmp_path / "ctm") as ctm:
            found += [list(ctm.runs()), list(ctm.runs())]
    assert all(runs == found[0] for runs in found)
    assert {run.channel for run in found[0]} == {"1"}
    assert [(run.id, run.line, run.lines) for run in found[0]] == [
        ("a", 1, 5), ("b", 6, 3), ("a", 9, 1), ("c", 10, 36), ("d", 46, 1), ("ä", 47, 1)]
    for run in found[0]:
        lines = text.encode()[run.begin:run.end].decode().splitlines()
        assert {line[0] for line in lines} == {run.id}


WORDS = st.lists(st.tuples(st.sampled_from(["a", "b", "ab"]), st.sampled_from(["x", "ü", "<eps>", "日本", "a\xa0b"]),
                           st.integers(0, 300), st.sampled_from(["", " ", " 0.5", " NA"])), min_size=1, max_size=30)


@given(WORDS)
@settings(max_examples=150, deadline=None)
def test_read_equals_line_by_line(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("ctm")
    at, text = 0, ""
    for id, word, gap, tail in rows:
        at += gap
        text += f"{id} 1 {at / 100:.2f} 0.05 {word}{tail}\n"
        at += 5
    ids, timed = read(path, text)
    index = CtmIndex(path / "ctm")
    for k, id in enumerate(ids):
        timing = index[id]()
        part = slice(timed.bounds[k], timed.bounds[k + 1])
        assert timed.words[part] == [row.word for row in timing.words]
        assert timed.begins[part].tolist() == [row.begin for row in timing.words]
        assert timed.closes[k] == timing.end or (np.isnan(timed.closes[k]) and timing.end is None)
    again = b"".join(b"%b %b%b\n" % (head, word.encode(), tail)
                     for head, word, tail in zip(timed.heads, timed.words, timed.tails))
    if again:
        (path / "again").write_bytes(again)
        words = [row for _, _, timing in read_ctm(path / "again") for row in timing.words]
        assert [row.word for row in words] == timed.words


@pytest.mark.parametrize(("text", "said"), [
    ("", "the file has no timed words"),
    (";; nothing\n\n", "the file has no timed words"),
    ("a 1 0 0.5\n", ":1: 4 columns; "),
    ("a 1 0 0.5 x\na\n", ":2: 1 columns; "),
    ("a 1 0 0.5 x\na 1 1 0.5 x 1 2 3 4\n", ":2: 9 columns; "),
    (KALDI.replace("0.10", "0.1_0"), ":4: the begin '0.1_0' is not a number; "),
    (KALDI.replace("0.10", "nan"), ":4: the begin 'nan' is not a number; "),
    (KALDI.replace("0.10", "-0.10"), ":4: the begin -0.10 is negative; "),
    (KALDI.replace("0.70", "high"), ":4: the confidence 'high' is not a number; "),
    (KALDI.replace("0.25", "-0.25"), ":2: the duration -0.25 is negative; "),
    (KALDI.encode().replace(b"two", b"\xff"), ":3: byte "),
    (KALDI.encode().replace(b"b 1", b"\xff 1"), ":4: byte 1 is not UTF-8; "),
    (KALDI.replace("\n", "\r\n"), ":1: a carriage return; "),
    (KALDI.replace("two", "t\0o"), ":3: a NUL byte; "),
    (KALDI.replace("0.50 0.25", "0.80 0.25"), ":3: at 0.75 s a word of 'a' begins before the one above; sort the CTM"),
    (";; x\n" + KALDI.replace("0.50 0.25", "0.80 0.25"), ":4: at 0.75 s a word of 'a' begins before the one above; "),
    (KALDI.replace("0.00 0.50", "0.00 1.80"), ":3: at 0.75 s a word of 'a' overlaps the one before by more than 1 s; "),
])
def test_read_error_names_line(tmp_path, text, said):
    with pytest.raises(InputError) as error:
        read(tmp_path, text)
    assert said in str(error.value)
    assert str(error.value).startswith(str(tmp_path / "ctm"))


@pytest.mark.parametrize("text", ["a\x0bb 1 0 1 x\n", "a 1 0 1 x\x01\n", "a 1 1e9 1 x\n"])
def test_read_refuses_what_ctm_refuses(tmp_path, text):
    with pytest.raises(InputError, match="ctm:1: "):
        read(tmp_path, text)


def test_read_counts_later_alternatives(tmp_path):
    lines = ["* * <ALT_BEGIN>", "0 1 one", "* * <ALT>", "0 1 two", "* * <ALT_END>", "2 1 three"]
    (tmp_path / "ctm").write_text("".join(f"a 1 {line}\n" for line in lines))
    with CtmFile(tmp_path / "ctm") as ctm:
        assert ctm.read([[run] for run in ctm.runs()]).words == ["one", "three"]
        assert ctm.repairs == {"words of later alternatives, left out": 1}
