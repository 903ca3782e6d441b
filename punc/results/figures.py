"""Plots of a report as SVG, by matplotlib, to stand inside a page.

Text and axes have the page's text colour, so that a plot is read on a light and on a dark page. A system has the same
colour, dash and marker in all plots.
"""

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from punc.results.breakdowns import Breakdown
from punc.results.curves import PrecisionRecall, Reliability
from punc.results.training_log import Epoch

TEXT = "#123456"  # stands for the page's text colour, currentColor
COLOURS = ("#2f7fc1", "#d1495b", "#3f9b57", "#a86bd1", "#c77d0a", "#1f9e9e", "#a0705a", "#8a8a8a")
DASHES = ("-", "--", "-.", ":")
MARKERS = "osD^vPX*"
CURVES = len(COLOURS)  # systems in a plot; the tables have all
WIDTH, HEIGHT = 4.6, 3.2  # inches of a panel


def styles(systems: Iterable[str]) -> dict[str, dict[str, Any]]:
    """How the systems are drawn; those after the first CURVES are not."""
    return {system: {"color": COLOURS[i], "linestyle": DASHES[i % len(DASHES)], "marker": MARKERS[i], "markersize": 4,
                     "linewidth": 1.5} for i, system in zip(range(CURVES), systems)}


def plot_training(training: Mapping[str, Sequence[Epoch]], style: Mapping[str, dict]) -> str:
    """Loss, dev loss, dev F1 and learning rate by epoch; a large marker is the epoch that is kept."""
    figure, panels = _panels(["loss of training", "dev loss", "dev F1", "learning rate"])
    for system in filter(training.__contains__, style):
        epochs, kept = training[system], [epoch for epoch in training[system] if epoch.kept]
        for axes, name in zip(panels, ("loss", "dev_loss", "dev_f1", "rate")):
            axes.plot(*_curve(epochs, name), label=system, **style[system])
            axes.plot(*_curve(kept, name), **{**style[system], "markersize": 8, "linestyle": ""}, markeredgecolor=TEXT)
    panels[3].set_yscale("log")
    for axes in panels:
        axes.set_xlabel("epoch")
        axes.xaxis.get_major_locator().set_params(integer=True)
    return _svg(figure, panels, "training")


def _curve(epochs: Iterable[Epoch], name: str) -> tuple[list[int], list[float]]:
    """The numbers of epochs, and a value of each."""
    return [epoch.number for epoch in epochs], [getattr(epoch, name) for epoch in epochs]


def plot_precision_recall(curves: Mapping[str, Mapping[str, PrecisionRecall]], style: Mapping[str, dict],
                          name: str) -> str:
    """A panel for each mark with the curve of each system; a large marker is what the system wrote.

    curves   by mark, then by system
    """
    figure, panels = _panels(list(curves))
    for axes, by_system in zip(panels, curves.values()):
        for system in filter(by_system.__contains__, style):
            curve, drawn = by_system[system], style[system]
            axes.plot(curve.recall, curve.precision, label=system, **{**drawn, "marker": ""})
            axes.plot(*[[value] for value in curve.operating], **{**drawn, "markersize": 8, "linestyle": ""},
                      markeredgecolor=TEXT)
        axes.set(xlim=(0, 102), ylim=(0, 102), xlabel="recall [%]", ylabel="precision [%]")
    return _svg(figure, panels, name)


def plot_reliability(found: Mapping[str, Reliability], style: Mapping[str, dict], name: str) -> str:
    """Accuracy against confidence; the diagonal is a calibrated system."""
    figure, panels = _panels([""])
    panels[0].plot([0, 100], [0, 100], color=TEXT, linewidth=0.8, linestyle=":")
    for system in filter(found.__contains__, style):
        panels[0].plot(found[system].confidence, found[system].accuracy, label=system, **style[system])
    panels[0].set(xlim=(0, 102), ylim=(0, 102), xlabel="posterior of the label [%]", ylabel="labels that are right [%]")
    return _svg(figure, panels, name)


def plot_breakdown(found: Breakdown, style: Mapping[str, dict], name: str) -> str:
    """F1 by group."""
    figure, panels = _panels([""])
    for system in filter(found.f1.__contains__, style):
        panels[0].plot(range(len(found.groups)), found.f1[system], label=system, **style[system])
    panels[0].set_xticks(range(len(found.groups)), [group.replace(" in the stream", "") for group in found.groups])
    panels[0].tick_params(axis="x", labelsize=7)
    panels[0].set(ylim=(0, 102), ylabel="F1 [%]")
    return _svg(figure, panels, name)


def _panels(titles: Sequence[str]) -> tuple[Any, list[Any]]:
    """A figure with a row of axes."""
    from matplotlib.figure import Figure

    width = WIDTH if len(titles) == 1 else WIDTH * 0.72 * len(titles)
    figure = Figure(figsize=(width, HEIGHT))
    panels = list(figure.subplots(1, len(titles), squeeze=False)[0])
    for axes, title in zip(panels, titles):
        axes.set_title(title, fontsize=10, color=TEXT)
        axes.grid(alpha=0.25, color=TEXT, linewidth=0.5)
        axes.patch.set_visible(False)
        axes.tick_params(colors=TEXT, labelsize=8)
        for spine in axes.spines.values():
            spine.set_color(TEXT)
        axes.xaxis.label.set_color(TEXT)
        axes.yaxis.label.set_color(TEXT)
    return figure, panels


def _svg(figure: Any, panels: Sequence[Any], name: str) -> str:
    """The figure as an SVG element whose ids begin with `name`."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    handles, labels = panels[0].get_legend_handles_labels()
    width, height = figure.get_size_inches()
    rows = int(np.ceil(len(labels) * 1.6 / width)) if labels else 0
    figure.set_size_inches(width, height + 0.2 * rows)
    top = 1 - 0.2 * rows / (height + 0.2 * rows)
    figure.subplots_adjust(left=0.62 / width, right=1 - 0.1 / width, bottom=0.62 / (height + 0.2 * rows),
                           top=top - 0.3 / height, wspace=0.28)
    if labels:
        figure.legend(handles, labels, loc="upper center", ncols=max(1, int(width / 1.6)), fontsize=8, frameon=False,
                      labelcolor=TEXT)
    figure.patch.set_visible(False)
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name, "font.family": "sans-serif"}):
        file = io.StringIO()
        FigureCanvasSVG(figure).print_svg(file, metadata={"Date": None})
    return inline(file.getvalue(), name)


def inline(svg: str, name: str) -> str:
    """An SVG file as an element of a page: ids are unique in the page, and text has the page's colour."""
    svg = svg[svg.index("<svg"):].replace(TEXT, "currentColor")
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'(href="|url\()#', rf"\1#{name}-", svg)
    return svg.replace("<svg ", '<svg aria-hidden="true" ', 1)  # the figure element has the name, the table the values
