"""Scores of plain texts; sides of a comparison, from files and data directories."""

import math

import numpy as np
import pytest

import punc
from punc.base.errors import InputError
from punc.data.datadir import Utterance
from punc.data.datadir_writer import write_data_dir
from punc.data.labels import Label, LabelSet
from punc.scoring.texts import ENGLISH, count_sides, read_side, score_texts, text_reader

READ = text_reader(ENGLISH)
REFERENCE = "So it begins, as it must. Does it end? No!"


def test_text_reader():
    words = READ('"Well," he said -- no… Really?')
    assert words.plain == ["well", "he", "said", "no", "really"]
    assert [ENGLISH.names[slot] for slot in words.slots] == ["COMMA", "O", "COMMA", "PERIOD", "QUESTION"]


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


@pytest.mark.parametrize("texts", [("", "a"), ("a", " ... ")])
def test_no_words(texts):
    with pytest.raises(InputError, match="a text without words"):
        score_texts(*texts)


def side(path, text, labels=ENGLISH, read=READ):
    path.write_text(text, encoding="utf-8", newline="")
    return read_side(path, labels, read)


def test_read_side_is_a_stream_a_line(tmp_path):
    found = side(tmp_path / "a.txt", "So, it begins.\r\n\r\nHe said: NO!\n\n")
    assert found.names == ["1", "2", "3"]
    assert [list(stream.plain) for stream in found.streams] == [["so", "it", "begins"], [], ["he", "said", "no"]]
    assert found.streams[2].cased == ["He", "said", "NO"]
    assert found.streams[2].slots.tolist() == [0, 1, 2]
    assert (found.words, found.named) == (6, False)


def test_read_side_labels_with_capitals(tmp_path):
    stop = (".",)
    cased = LabelSet((Label("O", "w"), Label("CAP", "W"), Label("PERIOD", "w.", stop), Label("CAP_PERIOD", "W.", stop)))
    stream = side(tmp_path / "a.txt", "He saw NATO.", cased, text_reader(cased)).streams[0]
    assert (stream.cased, stream.slots.tolist()) == (["He", "saw", "NATO"], [1, 0, 3])


def test_read_side_characters(tmp_path):
    labels = LabelSet((Label("O", "w"), Label("STOP", "w。", ("。",))))
    stream = side(tmp_path / "a.txt", "そう。 OK。", labels, text_reader(labels, characters=True)).streams[0]
    assert (list(stream.plain), stream.slots.tolist()) == (["そ", "う", "ok"], [0, 1, 1])


def test_read_side_data_directory_has_the_same_counts(tmp_path):
    rows = [(["a", "b"], ["COMMA", "PERIOD"]), (["c"], ["QUESTION"])]
    write_data_dir(tmp_path / "d", [Utterance(f"s{i}", f"s{i}", *row) for i, row in enumerate(rows)])
    data = read_side(tmp_path / "d", ENGLISH, READ)
    text = side(tmp_path / "a.txt", "a, b.\nc?\n")
    assert (data.names, data.named) == (["s0", "s1"], True)
    assert data.checksum == text.checksum
    counts = count_sides(data, text, ENGLISH)
    assert counts.units == ["s0:000000", "s1:000000"]
    np.testing.assert_array_equal(counts.confusion.sum(0), np.diag([0, 1, 1, 1]))


def test_side_as_whole(tmp_path):
    ref, hyp = side(tmp_path / "1.txt", "A, b.\nC d?\n"), side(tmp_path / "2.txt", "a, b. c x d?\n")
    counts = count_sides(ref.as_whole, hyp.as_whole, ENGLISH)
    assert counts.units == ["text:000000"]
    assert counts.words[:, 0].tolist() == [[4, 0, 0, 1]]


@pytest.mark.parametrize("text", ["", "\n\n", " ...\n"])
def test_read_side_without_words_raises(tmp_path, text):
    with pytest.raises(InputError, match=r"a\.txt: a text without words"):
        side(tmp_path / "a.txt", text)


def test_read_side_not_utf8_names_the_line(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"a\n\xff\n")
    with pytest.raises(InputError, match=r"a\.txt:2: byte 1 is not UTF-8"):
        read_side(tmp_path / "a.txt", ENGLISH, READ)


def test_data_directories_with_other_streams_raise(tmp_path):
    for name in ("x", "y"):
        write_data_dir(tmp_path / name, [Utterance(name, name, ["a"], ["O"])])
    with pytest.raises(InputError, match="y: other streams than"):
        count_sides(*(read_side(tmp_path / name, ENGLISH, READ) for name in ("x", "y")), ENGLISH)
