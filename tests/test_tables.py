"""Kaldi text tables: as Kaldi splits and orders them, and every way to get them wrong."""

import subprocess

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.data.tables import (
    FORBIDDEN,
    Row,
    count_blanks,
    fields,
    line_offsets,
    read_table,
    sort_table,
    write_table,
)


@pytest.fixture
def table(tmp_path):
    def make(content):
        (tmp_path / "text").write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path / "text"
    return make


def test_fields():
    assert fields("a b") == ["a", "b"]
    assert fields(" a \t b  ") == ["a", "b"]
    assert fields("") == []
    assert fields(" ") == []
    # Kaldi takes them as letters.
    assert fields("a\u00a0b\u3000c d\u2028e") == ["a\u00a0b\u3000c", "d\u2028e"]


def test_read_table(table):
    path = table("a x y\nb\t1\t2\nc\nd ä\u3000ö  \nd\u00e4 last")
    assert list(read_table(path)) == [Row(1, "a", "x y"), Row(2, "b", "1\t2"), Row(3, "c", ""),
                                      Row(4, "d", "ä\u3000ö  "), Row(5, "dä", "last")]


@pytest.mark.parametrize(("content", "message"), [
    ("", "text: the file is empty; "),
    ("\n", "text:1: a line without a key; "),
    ("a x\n x\n", "text:2: a line without a key; "),
    ("a x\n\nb\n", "text:2: a line without a key; "),
    ("b x\na x\n", "text:2: 'a' is out of order; sort it: LC_ALL=C sort"),
    ("a x\na y\n", "text:2: 'a' occurs twice; "),
    ("ä x\nz x\n", "text:2: 'z' is out of order"),
    ("a x\r\n", "text:1: a carriage return; "),
    ("a x\nb \0\n", "text:2: a NUL byte; "),
    (b"a x\nb \xe4\n", "text:2: byte 3 is not UTF-8; "),
])
def test_read_table_wrong_content(table, content, message):
    with pytest.raises(InputError) as error:
        list(read_table(table(content)))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_read_table_unsorted(table):
    assert [row.key for row in read_table(table("b x\na x\nb y\n"), sort=False)] == ["b", "a", "b"]


def test_read_table_missing_file(tmp_path):
    with pytest.raises(InputError, match="text: no such file"):
        list(read_table(tmp_path / "text"))


def test_read_table_line_of_ten_megabytes(table):
    row, = read_table(table("a " + "word " * 2_000_000))
    assert len(fields(row.value)) == 2_000_000


# A key has no blank and no control character; a value is one line.
KEYS = st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters=" "), min_size=1, max_size=5)
VALUES = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=8)


@given(st.dictionaries(KEYS, VALUES, min_size=1))
def test_write_table_order_of_sort_and_round_trip(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("tables") / "table"
    write_table(path, sorted(rows.items(), key=lambda row: row[0].encode()))
    assert {key: value for _, key, value in read_table(path)} == rows
    keys = "".join(f"{key}\n" for key in rows)
    result = subprocess.run(["sort"], input=keys, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}, text=True,
                            encoding="utf-8", capture_output=True, check=True)
    assert [row.key for row in read_table(path)] == result.stdout.split("\n")[:-1]


@pytest.mark.parametrize("keys", [["b", "a"], ["a", "a"], [""]])
def test_write_table_refuses_another_order(table, keys):
    path = table("old")
    with pytest.raises(ValueError, match="not sorted and unique"):
        write_table(path, ((key, "x") for key in keys))
    assert path.read_text() == "old"


@pytest.mark.parametrize("content", [b"", b"\n", b"ab\nc\n", b"ab\n\nc", b"abc"])
@pytest.mark.parametrize("block", [1, 2, 100])
def test_line_offsets(table, content, block):
    lines = content.splitlines(keepends=True)
    offsets = line_offsets(table(content), block)
    assert offsets.dtype == np.int64
    assert [content[start:].splitlines(keepends=True)[0] for start in offsets] == lines


def test_sort_table(table):
    path = table("b 1\nab\na 2\nä 3\nB 4\n")
    sort_table(path)
    assert path.read_text() == "B 4\na 2\nab\nb 1\nä 3\n"


def test_sort_table_keeps_lines_of_a_key_in_their_order(table):
    path = table("bX\nb y\nb x\na\n")
    sort_table(path)
    assert path.read_text() == "a\nb y\nb x\nbX\n"


@pytest.mark.parametrize(("text", "found"), [("a <s> b", True), ("</s>", True), ("x#0", False), ("#0", True),
                                             ("<s>x", False), ("a,#0.", True)])
def test_forbidden_words_as_grep_sees_them(text, found):
    assert bool(FORBIDDEN.search(text)) == found


def test_count_blanks_is_the_number_of_words(tmp_path):
    (tmp_path / "text").write_text("a one two\nb\nc\tthree four\n")
    assert count_blanks(tmp_path / "text") == 4
