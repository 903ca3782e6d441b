"""Plots as SVG inside a page."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from punc.results.breakdowns import Breakdown
from punc.results.curves import PrecisionRecall, Reliability
from punc.results.figures import (
    CURVES,
    TEXT,
    inline,
    plot_breakdown,
    plot_precision_recall,
    plot_reliability,
    plot_training,
    styles,
)
from punc.results.training_log import Epoch

pytest.importorskip("matplotlib")
ONE, TWO = np.array([1.0, 50.0]), np.array([60.0, 40.0])


@pytest.mark.parametrize(("draw", "texts"), [
    (lambda style: plot_training({"<A>": [Epoch(1, 0.1, 2, 3, 4), Epoch(2, 0.1, 1, 2, 5)]}, style), ["<A>", "epoch"]),
    (lambda style: plot_precision_recall({"COMMA": {"<A>": PrecisionRecall(ONE, TWO, 50, (1.0, np.nan))}}, style, "p"),
     ["<A>", "COMMA", "recall [%]"]),
    (lambda style: plot_reliability({"<A>": Reliability(ONE, TWO, ONE, 1.0)}, style, "r"), ["<A>"]),
    (lambda style: plot_breakdown(Breakdown("t", ["none", "from 1"], [1, 2], [1, 2], {"<A>": [50.0, np.nan]}), style,
                                  "b"), ["<A>", "from 1"])])
def test_plot_is_svg_with_its_texts(draw, texts):
    svg = draw(styles(["<A>"]))
    found = {element.text for element in ET.fromstring(svg).iter() if element.tag.endswith("text")}
    assert set(texts) <= found
    assert TEXT not in svg
    assert draw(styles(["<A>"])) == svg


def test_plot_training_marks_the_kept_epoch():
    """Each of the four panels has one marker more, a large one."""
    epochs = [Epoch(1, 0.1, 2, 3, 4), Epoch(2, 0.1, 1, 2, 5, kept=True)]
    none = [epoch._replace(kept=False) for epoch in epochs]
    marks = [plot_training({"A": found}, styles(["A"])).count("<use ") for found in (epochs, none)]
    assert marks[0] == marks[1] + 4


def test_styles_differ_and_end():
    found = styles([str(i) for i in range(20)])
    assert len(found) == CURVES
    assert len({(style["color"], style["marker"]) for style in found.values()}) == CURVES


def test_inline_ids_are_of_the_figure():
    svg = inline('<?xml?><svg id="a"><metadata>x</metadata><use xlink:href="#a"/><g clip-path="url(#a)"/></svg>', "f")
    assert re.findall(r"[#\"]f-a", svg) == ['"f-a', "#f-a", "#f-a"]
    assert "metadata" not in svg
