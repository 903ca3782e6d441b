"""Markdown tables, times and probabilities."""

import pytest

from punc.scoring.markdown import chance, duration, table


def test_table_escapes_bars():
    assert table([["a", "b"], ["1|2", ""]]) == "| a | b |\n|---|---|\n| 1\\|2 |  |"


@pytest.mark.parametrize(("seconds", "text"), [
    (0.4, "0 s"), (47.3, "47 s"), (119, "119 s"), (121, "2 min"), (7100, "118 min"), (7500, "2 h 5 min")])
def test_duration(seconds, text):
    assert duration(seconds) == text


def test_chance():
    assert [chance(p) for p in (0.03125, 1.0, 0.00005, 0.00004)] == ["0.0312", "1.0000", "0.0001", "<0.0001"]
