"""Figures quoted in "What we found" against the tables."""

import pytest

from punc.results.findings import unknown_figures
from punc.results.page_data import PageData, PairedTest, Published
from punc.scoring.significance import Interval

DATA = PageData({("A", "ref"): {"Err": Interval(6.346, 1, 2)}}, {},
                [PairedTest("A", "B", "ref", "Err", -1.1246, -1.2, -1.1, 0.0005)])


@pytest.mark.parametrize(("text", "unknown"), [
    ("Err is 6.3, or 6.35 (p = 0.0005), 1.1 less than B. The paper has 8.2.", []),
    ("Err is 6.4, 6.34 or 6.3; B has 7.5, 7.5.", ["6.4", "6.34", "7.5"]),
    ("1,760 words in 2015, 99 %, section 2.1.3, 1,760.5", []),
    ("0.000500", ["0.000500"]),
])
def test_unknown_figures(text, unknown):
    assert unknown_figures(text, DATA, [Published("A", "ref", "Err", 8.22, "X 2001")]) == unknown
