"""Sets of a store: blocks of lines in order, tokens that are left out, turns, and files that are broken."""

import re

import numpy as np
import pytest

import punc.tokens.store_set
from punc.base.errors import InputError
from punc.data.datadir import DataDir, Utterance
from punc.data.datadir_writer import write_data_dir
from punc.data.labels import LabelSet
from punc.tokens.store_set import check_numbers, flat_file, read_set, write_set
from punc.tokens.tokenizers.char import CharTokenizer
from punc.tokens.tokenizers.word import WordTokenizer
from punc.tokens.vocabulary import END, Vocabulary

UTTERANCES = [Utterance("a-1", "a", ["x", "y"]), Utterance("a-2", "a", ["z"]), Utterance("b-1", "b", ["x", "x"])]


@pytest.fixture
def labels(tmp_path):
    (tmp_path / "labels.txt").write_text("O w\nPERIOD w. .\n")
    return LabelSet.read(tmp_path / "labels.txt")


@pytest.fixture
def line_by_line(monkeypatch):
    """A block for each line of a data directory, so that what comes after it comes in another block."""
    monkeypatch.setattr(punc.tokens.store_set, "ENCODE_BYTES", 1)


def written(path, utterances):
    write_data_dir(path, utterances)
    return DataDir(path)


def rewritten(data, **tables):
    for name, lines in tables.items():
        (data.path / name).write_text("".join(f"{line}\n" for line in lines))
    return DataDir(data.path)


def tokenizer(kind, *tokens):
    return kind(Vocabulary(["<unk>", "</s>", *tokens]))


def test_write_set_counts_over_blocks(tmp_path, labels, line_by_line):
    data = written(tmp_path / "data", UTTERANCES)
    write_set(tmp_path / "set", data, tokenizer(WordTokenizer, "x", "y"), labels)
    assert (tmp_path / "set/index").read_text() == "a 0 3\nb 3 2\n"


@pytest.mark.parametrize(("text", "said"), [
    (["a-2 x", "a-1 y"], "text:2: .*order"), (["a-1 x", "a-1 y"], "text:2: .*'a-1'")])
def test_write_set_order_of_neighbouring_blocks(tmp_path, labels, line_by_line, text, said):
    data = written(tmp_path / "data", [Utterance("a-1", "a", ["x"]), Utterance("a-2", "a", ["y"])])
    data = rewritten(data, text=text, utt2spk=[f"{line.split()[0]} a" for line in text])
    with pytest.raises(InputError) as caught:
        write_set(tmp_path / "set", data, tokenizer(WordTokenizer, "x", "y"), labels)
    assert re.search(said, str(caught.value))


def test_write_set_streams_of_neighbouring_blocks(tmp_path, labels, line_by_line):
    """Ids are in order, streams are not."""
    data = rewritten(written(tmp_path / "data", UTTERANCES), utt2spk=["a-1 b", "a-2 b", "b-1 a"])
    with pytest.raises(InputError, match="data/utt2spk"):
        write_set(tmp_path / "set", data, tokenizer(WordTokenizer, "x"), labels)


def test_write_set_segments_may_be_in_any_order_of_ids(tmp_path, labels, line_by_line):
    data = written(tmp_path / "data", UTTERANCES)
    data = rewritten(data, segments=["a-1 r2 0 1", "a-2 r1 3 4", "b-1 r1 0 1"])
    write_set(tmp_path / "set", data, tokenizer(WordTokenizer, "x", "y", "z"), labels)
    found = read_set(tmp_path / "set")
    assert (list(found.streams), found.ids.tolist()) == (["r1", "r2"], [2, 2, 4, 2, 3])


def test_write_set_ends_each_stream_of_characters(tmp_path, labels):
    """z is left out, and the blank after it stays: the only token of stream b. Stream c has no words."""
    data = written(tmp_path / "data", [
        UTTERANCES[0], Utterance("a-2", "a", ["z"]), Utterance("b-1", "b", ["z"]), Utterance("c-1", "c", []),
        Utterance("d-1", "d", ["x"])])
    write_set(tmp_path / "set", data, tokenizer(CharTokenizer, "<space>", "x", "y"), labels)
    found = read_set(tmp_path / "set")
    assert found.ids.tolist() == [3, 2, 4, 2, END, END, 3, END]
    assert found.offsets.tolist() == [0, 5, 6, 6, 8]


def test_read_set_has_turns(tmp_path, labels):
    data = rewritten(written(tmp_path / "data", UTTERANCES), turns=["a-1 0 1", "a-2 0", "b-1 1 0"])
    write_set(tmp_path / "set", data, tokenizer(WordTokenizer), labels)
    found = read_set(tmp_path / "set")
    assert found.turns is not None
    assert found.turns.tolist() == [False, True, False, True, False]


@pytest.fixture
def store_set(tmp_path, labels):
    write_set(tmp_path / "set", written(tmp_path / "data", UTTERANCES), tokenizer(WordTokenizer, "x", "y", "z"), labels)
    return tmp_path / "set"


@pytest.mark.parametrize("index", [
    b"a 0 3 0\nb 3 2\n", b"a 0 3 0\nb 3 2 0\n", b"a 0\nb 3\n",
    b"\xc3 0 3\n\xa4 3 2\n"])  # two names that are UTF-8 only one after the other
def test_read_set_broken_index(store_set, index):
    (store_set / "index").write_bytes(index)
    with pytest.raises(InputError, match="set/index: not STREAM OFFSET LENGTH lines; make the store again"):
        read_set(store_set)


@pytest.mark.parametrize("bad", range(5))
def test_check_numbers_reads_all_blocks(store_set, monkeypatch, bad):
    monkeypatch.setattr(punc.tokens.store_set, "CHECKED", 2)
    check_numbers(store_set, 5, 2)
    ids = np.load(store_set / "ids.npy")
    ids[bad] = 5
    np.save(store_set / "ids.npy", ids)
    with pytest.raises(InputError, match=r"ids\.npy: a number that is not from 0 to 4"):
        check_numbers(store_set, 5, 2)


def test_flat_file_is_an_array_of_what_was_written(tmp_path):
    with flat_file(tmp_path / "a.npy", np.float32) as file:
        for part in ([0.5, np.nan], [], [-1.0]):
            file.write(np.array(part, np.float32).tobytes())
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), np.array([0.5, np.nan, -1], np.float32))
