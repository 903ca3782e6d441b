"""Files in parts, and their bytes as text."""

from collections import Counter
from itertools import pairwise

import pytest

from punc.text.file_parts import contains, count_lines, decode, file_parts


@pytest.mark.parametrize("size", [5, 7, 100])
@pytest.mark.parametrize(("data", "delimiter"), [
    (b"one\ntwo three four five\n\nsix", b"\n"), (b"<seg>a b</seg>\n<seg>c</SEG><seg>d", b"</seg>")])
def test_file_parts_end_with_delimiter(tmp_path, data, delimiter, size):
    for name in "ab":
        (tmp_path / name).write_bytes(data)
    parts = list(file_parts([tmp_path / "a", tmp_path / "b"], delimiter, size))
    assert b"".join(part.data for part in parts) == 2 * data
    assert [part.path for part in parts if part.first] == [str(tmp_path / "a"), str(tmp_path / "b")]
    for part, following in pairwise(parts):
        assert following.first or part.data.lower().endswith((delimiter, b" "))
        assert part.line_start == (part.first or data[part.offset - 1:part.offset] == b"\n")
        with open(part.path, "rb") as file:
            assert count_lines(file, part.offset) == data.count(b"\n", 0, part.offset)


def test_contains_bytes(tmp_path):
    (tmp_path / "empty").touch()
    (tmp_path / "text").write_bytes(b"so <sil=1>")
    assert [contains(tmp_path / name, b"<sil=") for name in ("empty", "text")] == [False, True]


@pytest.mark.parametrize(("raw", "text", "count"), [
    (b"\xe2\x99?you", "you", 1),  # a note of music whose last byte a converter lost
    (b"\xe2\x99?\xe2\x99?he", "he", 2),
    (b"caf\xe9?", "caf?", 1),
    (b"\xff\xfex", "x", 2),
    ("é?".encode(), "é?", 0),
])
def test_decode_removes_bytes_that_are_not_utf8(raw, text, count):
    repairs = Counter()
    assert decode(raw, repairs) == text
    assert sum(repairs.values()) == count
