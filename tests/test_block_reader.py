"""Blocks of lines: they cover every table and fit together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.lookup import Lookup
from punc.data.block_reader import Irregular, count_block, encode_block, line_blocks, merge_runs, read_span
from punc.data.datadir import DataDir
from punc.tokens.tokenizers.word import WordTokenizer
from punc.tokens.vocabulary import Vocabulary


def write(path, **tables):
    path.mkdir(exist_ok=True)
    for name, content in tables.items():
        (path / name).write_bytes(content.encode())
    return DataDir(path)


def bytes_at(path, span):
    return path.read_bytes()[span[0]:span[0] + span[1]]


@given(lines=st.lists(st.integers(0, 30), min_size=1, max_size=30), size=st.integers(1, 100), end=st.booleans())
def test_line_blocks_cover_tables_with_equal_lines(tmp_path_factory, lines, size, end):
    path, last = tmp_path_factory.mktemp("d"), "\n" if end else ""
    text = "\n".join(f"u{i:02d}" + " w" * n for i, n in enumerate(lines)) + last
    speakers = "\n".join(f"u{i:02d} speaker" for i in range(len(lines))) + last
    data = write(path, text=text, utt2spk=speakers)
    found = list(line_blocks(data, ["text", "utt2spk"], size))
    assert b"".join(bytes_at(path / "text", b.spans["text"]) for b in found) == text.encode()
    assert b"".join(bytes_at(path / "utt2spk", b.spans["utt2spk"]) for b in found) == speakers.encode()
    line = 1
    for block in found:
        assert block.line == line
        parts = [bytes_at(path / name, block.spans[name]).decode().splitlines() for name in ("text", "utt2spk")]
        assert [l.split()[0] for l in parts[0]] == [l.split()[0] for l in parts[1]]
        assert len(b"".join(l.encode() + b"\n" for l in parts[0][:-1])) < size
        line += len(parts[0])


def test_line_blocks_longer_table_is_irregular(tmp_path):
    data = write(tmp_path / "d", text="a x\n", utt2spk="a a\nb b\n")
    with pytest.raises(Irregular):
        list(line_blocks(data, ["text", "utt2spk"], 100))


@given(st.text("ab \t", max_size=30))
def test_read_span_fields_are_those_of_a_table(tmp_path_factory, line):
    path = tmp_path_factory.mktemp("d") / "text"
    path.write_bytes(f"u{line}\nv x\n".encode())
    first, second, end = read_span(path, (0, path.stat().st_size)).decode().split("\n")
    assert first.split(" ") == f"u{line}".split()
    assert (second, end) == ("v x", "")


@pytest.mark.parametrize("bad", [b"a x\r\n", b"a \0\n", b"a \xff\n"])
def test_read_span_bad_bytes_are_irregular(tmp_path, bad):
    (tmp_path / "text").write_bytes(bad)
    with pytest.raises(Irregular):
        read_span(tmp_path / "text", (0, len(bad)))


def test_count_block(tmp_path):
    data = write(tmp_path / "d", text="a a b a\nb\nc b ä\n", utt2spk="a a\nb b\nc c\n")
    known, others = count_block(data.path, Lookup([b"a", b"x"], -1), next(line_blocks(data, ["text"], 100)))
    assert known.tolist() == [2, 0]
    assert others == {b"b": 2, "ä".encode(): 1}


WORDS = WordTokenizer(Vocabulary(["<unk>", "</s>", "x", "yy", "zzz"])).text_encoder()


def test_encode_block_by_hand(tmp_path):
    data = write(tmp_path / "d", text="a-1 x yy\na-2\nb-1 zzz", utt2spk="a-1 a\na-2 a\nb-1 b\n",
                 punct="a-1 O P\na-2\nb-1 P")
    encoded = encode_block(data.path, WORDS, Lookup(["O", "P"], -1), next(line_blocks(data, data.tables, 100)))
    assert encoded.ids.tolist() == [2, 3, 4]
    assert encoded.labels.tolist() == [0, 1, 1]
    assert encoded.labels.dtype == np.int8
    assert encoded.pauses is None
    assert encoded[3:] == ([("a", 2), ("b", 1)], "a-1", "b-1", 3, 0, None)


@pytest.mark.parametrize("tables", [
    {"text": "b x\na x\n", "utt2spk": "b b\na a\n"}, {"text": "a x\na x\n", "utt2spk": "a a\na a\n"},
    {"text": "a x\nb x\n", "utt2spk": "a a\nc c\n"}, {"text": "a x\nb x\n", "utt2spk": "a z\nb y\n"},
    {"text": "a x\n", "utt2spk": "a\n"}, {"text": "a x\n", "utt2spk": "a b c\n"}, {"text": "a x\n", "utt2spk": ""},
    {"text": " x\n", "utt2spk": " x\n"}, {"text": "\n", "utt2spk": "\n"},
    {"text": "a x\n", "utt2spk": "a a\n", "punct": "a O O\n"}, {"text": "a x\n", "utt2spk": "a a\n", "punct": "a Q\n"},
    {"text": "a x y\nb x\n", "utt2spk": "a a\nb b\n", "punct": "a O\nb O O\n"}])
def test_encode_block_refuses_what_datadir_refuses(tmp_path, tables):
    data = write(tmp_path / "d", **tables)
    with pytest.raises(Irregular):
        encode_block(data.path, WORDS, Lookup(["O"], -1), next(line_blocks(data, data.tables, 100)))


def test_merge_runs():
    assert merge_runs([("a", 1), ("a", 0), ("b", 2), ("a", 3)]) == [("a", 1), ("b", 2), ("a", 3)]
