"""Tables with tabs, read back as written, and in Markdown; times and probabilities to read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.scoring.tables import chance, duration, markdown_table, read_tsv, write_tsv

HEADER = ("metric", "value", "low", "high")
NAN = float("nan")


@given(st.lists(st.tuples(st.text("abc.-", min_size=1), *[st.floats(-1e6, 1e6) | st.just(NAN)] * 3), max_size=9))
def test_read_tsv_reads_what_was_written(tmp_path_factory, table):
    path = tmp_path_factory.mktemp("table") / "metrics.tsv"
    write_tsv(path, HEADER, table)
    again = read_tsv(path, HEADER, HEADER[1:])
    assert [row[0] for row in again] == [row[0] for row in table]
    for row, expected in zip(again, table):
        assert row[1:] == pytest.approx(list(expected[1:]), abs=1e-4, nan_ok=True)


@pytest.mark.parametrize(("text", "line"), [
    ("metric value low high\n", 1),
    ("metric\tvalue\tlow\thigh\nErr\t1\t2\n", 2),
    ("metric\tvalue\tlow\thigh\nErr\t1\t2\tx\n", 2),
])
def test_read_tsv_wrong_line_raises(tmp_path, text, line):
    (tmp_path / "metrics.tsv").write_text(text)
    with pytest.raises(InputError, match=rf"metrics.tsv:{line}: .*metric value low high"):
        read_tsv(tmp_path / "metrics.tsv", HEADER, HEADER[1:])


def test_markdown_table_escapes_bars():
    assert markdown_table([["a", "b"], ["1|2", ""]]) == "| a | b |\n|---|---|\n| 1\\|2 |  |"


@pytest.mark.parametrize(("seconds", "text"), [
    (0.4, "0 s"), (47.3, "47 s"), (119, "119 s"), (121, "2 min"), (7100, "118 min"), (7500, "2 h 5 min")])
def test_duration(seconds, text):
    assert duration(seconds) == text


def test_chance():
    assert [chance(p) for p in (0.03125, 1.0, 0.00005, 0.00004)] == ["0.0312", "1.0000", "0.0001", "<0.0001"]
