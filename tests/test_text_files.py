"""Sides of a comparison, from files and data directories, and how they are paired."""

import numpy as np
import pytest

from punc.base.errors import InputError
from punc.data.datadir import Utterance
from punc.data.datadir_writer import write_data_dir
from punc.data.labels import Label, LabelSet
from punc.scoring.text_files import count_texts, pair, read_side
from punc.scoring.texts import ENGLISH, text_reader

READ = text_reader(ENGLISH)


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
    ref, hyp = pair(data, text)
    assert hyp.names == ["s0", "s1"]
    np.testing.assert_array_equal(count_texts(ref, hyp, ENGLISH).confusion.sum(0), np.diag([0, 1, 1, 1]))


def test_pair_other_number_of_lines_is_one_text(tmp_path):
    one, two = side(tmp_path / "1.txt", "A, b.\nC d?\n"), side(tmp_path / "2.txt", "a, b. c x d?\n")
    ref, hyp = pair(one, two)
    assert ref.names == hyp.names == ["text"]
    assert count_texts(ref, hyp, ENGLISH).words[:, 0].tolist() == [[4, 0, 0, 1]]
    with pytest.raises(InputError, match=r"2\.txt: 1 texts, but .*1\.txt has 2; .* --match text"):
        pair(one, two, "lines")
    assert len(pair(one, one, "lines")[0].streams) == 2
    assert len(pair(one, one, "text")[0].streams) == 1


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
        pair(*(read_side(tmp_path / name, ENGLISH, READ) for name in ("x", "y")))
