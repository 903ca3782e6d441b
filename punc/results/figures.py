"""Draws figures with the optional package matplotlib, as SVG for the page of a report or as PNG files for a recipe.

Text and axes in a report have the page's text colour, so that plots are readable on light and dark pages. A system
has the same colour, dash and marker in all plots. Pictures of data directories show how long pauses are, how a system
uses pauses, and how frequent marks are. The pause axis is logarithmic, with "0" at its left end for pauses under 10 ms,
the usual frame shift of an ASR system.
"""

import importlib.util
import io
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from punc.base.errors import InputError, StrPath
from punc.base.files import atomic_file
from punc.data.datadir import DataDir, label_numbers
from punc.data.kaldi_io import read_posteriors
from punc.data.labels import LabelSet

TEXT = "#123456"  # a placeholder for currentColor, the page's text colour
COLOURS = ("#2f7fc1", "#d1495b", "#3f9b57", "#a86bd1", "#c77d0a", "#1f9e9e", "#a0705a", "#8a8a8a")
DASHES = ("-", "--", "-.", ":")
MARKERS = "osD^vPX*"
CURVES = len(COLOURS)  # the maximum number of systems in a plot; tables show all systems
WIDTH, HEIGHT = 4.6, 3.2  # the size, in inches, of a figure with one panel, without the legend
SHORTEST, LONGEST = 0.01, 100.0  # the ends of the pause axis, in seconds
ZERO = 0.006  # where the pause axis shows "0", in seconds
# The edges of the bins of pauses: a bin for "0", a gap, and 8 bins per decade.
EDGES = np.concatenate([[0.005, 0.0072], np.geomspace(SHORTEST, LONGEST, 33)])
PICTURE = 8.0, 4.5  # the size, in inches, of the plots of pauses, posteriors and labels
MOST_WORDS = 60  # words; longer distances between two marks are drawn as this distance

Curves = Mapping[str, tuple[Any, Any]]  # system → x and y of its curve


def missing_packages(*names: str) -> list[str]:
    return [name for name in names if importlib.util.find_spec(name) is None]


def styles(systems: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the style of each of the first CURVES systems; the others are not drawn."""
    return {system: {"color": COLOURS[i], "linestyle": DASHES[i % len(DASHES)], "marker": MARKERS[i], "markersize": 4,
                     "linewidth": 1.5} for i, system in zip(range(CURVES), systems)}


def plain(text: str) -> str:
    """Escape a text for a figure, because matplotlib reads text between two `$` as mathematics."""
    return text.replace("$", r"\$")


def new_figure(titles: Sequence[str], width: float, height: float, colour: str = "black",
               layout: Any = "constrained") -> tuple[Any, list[Any]]:
    """Return a figure of width × height inches, and its panels in a row, with these titles and this text colour."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout=layout)
    panels = list(figure.subplots(1, len(titles), squeeze=False)[0])
    for axes, title in zip(panels, titles):
        axes.set_title(plain(title), fontsize=10, color=colour)
        axes.grid(alpha=0.25, color=colour, linewidth=0.5)
        axes.patch.set_visible(False)
        axes.tick_params(colors=colour, labelsize=8)
        axes.xaxis.label.set_color(colour)
        axes.yaxis.label.set_color(colour)
        for spine in axes.spines.values():
            spine.set_color(colour)
    return figure, panels


def save(figure: Any, path: StrPath) -> None:
    """Write a figure to a PNG file, completely or not at all."""
    with atomic_file(path, "wb") as file:
        figure.savefig(file, format="png", dpi=120)


def draw(curves: Mapping[str, Curves], style: Mapping[str, dict[str, Any]], name: str,
         points: Mapping[str, Curves] | None = None, markers: bool = True,
         diagonal: bool = False, ticks: Sequence[str] = (), logarithmic: Sequence[str] = (), **settings: Any) -> str:
    """Draw a figure of a report with one panel per group of curves. Return an SVG element whose ids begin with `name`.

    curves        for each panel title and system, the curve (x, y); only systems with a style are drawn
    points        for each panel title and system, large markers at (x, y)
    markers       whether curves have small markers
    diagonal      whether to draw the line x = y
    ticks         the tick labels at x = 0, 1, …
    logarithmic   titles of the panels whose y axis is logarithmic
    """
    width = WIDTH if len(curves) == 1 else WIDTH * 0.72 * len(curves)
    columns = max(1, int(width / 1.6))
    drawn = [system for system in style if any(system in panel for panel in curves.values())]
    legend = 0.2 * -(-len(drawn) // columns)  # inches
    height = HEIGHT + legend
    figure, panels = new_figure(list(curves), width, height, TEXT, layout=None)
    # Margins are computed here, because matplotlib's constrained layout would take a third of the time for the whole
    # page.
    figure.subplots_adjust(left=0.62 / width, right=1 - 0.1 / width, bottom=0.62 / height,
                           top=1 - (legend + 0.3) / height, wspace=0.28)
    for axes, (title, by_system) in zip(panels, curves.items()):
        if diagonal:
            axes.plot([0, 100], [0, 100], color=TEXT, linewidth=0.8, linestyle=":")
        for system in filter(by_system.__contains__, style):
            look = style[system] if markers else {**style[system], "marker": ""}
            axes.plot(*by_system[system], label=plain(system), **look)
            if points:
                large = {**style[system], "markersize": 8, "linestyle": ""}
                axes.plot(*points[title][system], **large, markeredgecolor=TEXT)
        axes.set(**settings)
        axes.xaxis.get_major_locator().set_params(integer=True)
        if title in logarithmic:
            axes.set_yscale("log")
        if ticks:
            axes.set_xticks(range(len(ticks)), map(plain, ticks), fontsize=7)
    handles: dict[str, Any] = {}  # the entries of one legend for all panels
    for axes in panels:
        handles |= dict(zip(*reversed(axes.get_legend_handles_labels())))
    if handles:
        figure.legend(handles.values(), handles, loc="upper center", ncols=columns, fontsize=8, frameon=False,
                      labelcolor=TEXT)
    return _svg(figure, name)


def _svg(figure: Any, name: str) -> str:
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    figure.patch.set_visible(False)
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name, "font.family": "sans-serif"}):
        file = io.StringIO()
        FigureCanvasSVG(figure).print_svg(file, metadata={"Date": None})
    svg = file.getvalue()
    svg = svg[svg.index("<svg"):].replace(TEXT, "currentColor")
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'(href="|url\()#', rf"\1#{name}-", svg)
    return svg.replace("<svg ", '<svg aria-hidden="true" ', 1)  # screen readers read the table instead


def axis_positions(pauses: np.ndarray) -> np.ndarray:
    """Return the positions of known pauses on the pause axis. Pauses under 10 ms are at "0"."""
    return np.where(pauses < SHORTEST, ZERO, np.clip(pauses, SHORTEST, LONGEST * 0.999, dtype=np.float64))


def shares(pauses: np.ndarray) -> np.ndarray:
    """Return the percentage of the known pauses in each bin of EDGES."""
    known = pauses[np.isfinite(pauses)]
    return 100 * np.histogram(axis_positions(known), EDGES)[0] / max(len(known), 1)


def describe_pauses(name: str, pauses: np.ndarray) -> str:
    """Describe a label's slots in one line of text: their number, the median pause, the share of known pauses under
    10 ms, and the share of unknown pauses."""
    known = pauses[np.isfinite(pauses)]
    if not len(known):
        return f"{name}: {len(pauses):,} slots, no pause known"
    zero, unknown = np.mean(known < SHORTEST), 1 - len(known) / len(pauses)
    return (f"{name}: {len(pauses):,} slots, median {np.median(known):.2f} s, {zero:.0%} without a pause"
            + (f", {unknown:.0%} unknown" if unknown else ""))


def plot_pauses(by_label: Mapping[str, np.ndarray], path: StrPath, title: str = "") -> None:
    """Plot the distribution of each label's pauses, and save the figure as the PNG file `path`."""
    figure, axes = _axes(title)
    for (name, pauses), colour in zip(by_label.items(), COLOURS * len(by_label)):
        axes.stairs(shares(pauses), EDGES, color=colour, linewidth=1.5, label=plain(describe_pauses(name, pauses)))
        axes.stairs(shares(pauses), EDGES, color=colour, fill=True, alpha=0.15)
    axes.set_ylabel("share of the label's slots [%]")
    axes.set_yscale("symlog", linthresh=1)
    axes.set_ylim(0, 100)
    axes.set_yticks([0, 0.5, 1, 2, 5, 10, 20, 50, 100], ["0", "0.5", "1", "2", "5", "10", "20", "50", "100"])
    axes.legend(loc="upper right", fontsize="small")
    save(figure, path)


def posteriors(data: DataDir, decode: StrPath, label: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return, for each slot of a data directory, its pause, a system's posterior of `label`, and whether the slot has
    this label. Raises InputError if `decode`, the output directory of `punc punctuate`, contains no posteriors for
    these slots or for this label.
    """
    archive = Path(decode) / "post.ark"
    if not archive.is_file():
        raise InputError("no such file", "punctuate with --posteriors true", archive)
    labels = LabelSet.read(Path(os.path.abspath(decode)).parent / "labels.txt")
    if label not in labels.names:
        raise InputError(f"unknown label '{label}'", f"choose from {' '.join(labels.names)}", decode)
    column, of = labels.index(label), {}
    for id, matrix in read_posteriors(archive):
        if matrix.ndim != 2 or matrix.shape[1] != len(labels.names):
            raise InputError(f"'{id}' is not a matrix of {len(labels.names)} columns, one for each label",
                             "punctuate with --posteriors true", archive)
        of[id] = matrix[:, column]
    found = []
    for utterance in data.utterances():
        if len(of.get(utterance.id, ())) != len(utterance.words):
            raise InputError(f"the slots differ from those of '{utterance.id}' in {data.path}",
                             "punctuate that directory", archive)
        found.append((utterance.pauses, of[utterance.id], np.array(utterance.labels) == label))
    pauses, probabilities, right = map(np.concatenate, zip(*found))
    return pauses, probabilities, right


def plot_posteriors(pauses: np.ndarray, probabilities: np.ndarray, right: np.ndarray, path: StrPath,
                    label: str, thresholds: Iterable[float] = (), title: str = "") -> None:
    """Draw P(label) against the pause: a dot for each slot with a known pause, the mean in each bin of EDGES, and a
    decision tree's thresholds."""
    figure, axes = _axes(title)
    known = np.isfinite(pauses)
    at = axis_positions(pauses[known])
    scatter = np.random.default_rng(1).uniform(-0.06, 0.06, int(known.sum()))
    probabilities, right = probabilities[known], right[known]
    for is_label, colour in ((False, COLOURS[0]), (True, COLOURS[2])):
        chosen = right == is_label
        text = f"slot {'with' if is_label else 'without'} {label}"
        axes.scatter((at * np.exp(scatter))[chosen], probabilities[chosen], s=5, alpha=0.4, color=colour,
                     label=plain(text), linewidths=0)
    middles, means = binned_mean(at, probabilities)
    axes.plot(middles, means, color="black", linewidth=2, marker="o", markersize=3, label="mean of the slots")
    for i, threshold in enumerate(sorted(thresholds)):
        axes.axvline(threshold, color=COLOURS[1], linestyle="--", linewidth=0.8,
                     label="the decision tree's thresholds" if i == 0 else None)
    axes.set_ylabel(plain(f"P({label})"))
    axes.set_ylim(-0.02, 1.02)
    axes.legend(loc="center right", fontsize="small")
    save(figure, path)


def binned_mean(at: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return, for each bin of EDGES that contains a slot, its middle on the logarithmic axis and its mean value."""
    bins = np.digitize(at, EDGES) - 1
    count = np.bincount(bins, minlength=len(EDGES) - 1)
    mean = np.bincount(bins, values, minlength=len(EDGES) - 1) / np.maximum(count, 1)
    return np.sqrt(EDGES[:-1] * EDGES[1:])[count > 0], mean[count > 0]


def _axes(title: str) -> tuple[Any, Any]:
    figure, (axes,) = new_figure([title], *PICTURE)
    axes.set_xscale("log")
    axes.set_xlim(EDGES[0], LONGEST)
    ticks = {ZERO: "0", 0.01: "10 ms", 0.1: "0.1 s", 1: "1 s", 10: "10 s", 100: "100 s"}
    axes.set_xticks(list(ticks), list(ticks.values()))
    axes.minorticks_off()
    axes.set_xlabel("pause in the slot")
    return figure, axes


class LabelCounts(NamedTuple):
    """Counts of the labels of a set."""

    slots: dict[str, int]  # number of slots of each label, in the order of the label set
    lengths: np.ndarray  # int64 (MOST_WORDS + 1,): lengths[n]: how often there are n words from one mark to the next

    def share(self, label: str) -> float:
        return 100 * self.slots[label] / max(sum(self.slots.values()), 1)


def count_labels(data: DataDir, labels: LabelSet) -> LabelCounts:
    """Count a directory's labels, stream by stream. Raises InputError for a label that is not in the label set."""
    slots = np.zeros(len(labels), np.int64)
    lengths = np.zeros(MOST_WORDS + 1, np.int64)
    for _, utterances in data.streams():
        found = label_numbers(utterances, labels, data.path)
        slots += np.bincount(found, minlength=len(labels))
        lengths += np.bincount(np.minimum(np.diff(np.flatnonzero(found), prepend=-1), MOST_WORDS),
                               minlength=MOST_WORDS + 1)
    return LabelCounts(dict(zip(labels.names, slots.tolist())), lengths)


def describe_labels(name: str, counts: LabelCounts) -> str:
    """Describe a set in one line of text: the number of slots, the share of slots with each mark, and the median number
    of words from one mark to the next."""
    marks = ", ".join(f"{label} {counts.share(label):.1f} %" for label in list(counts.slots)[1:])
    half = np.cumsum(counts.lengths)
    median = f", a mark after {int(np.searchsorted(half, half[-1] / 2))} words (median)" if half[-1] else ""
    return f"{name}: {sum(counts.slots.values()):,} slots, {marks or 'no labels'}{median}"


def plot_labels(sets: Mapping[str, LabelCounts], path: StrPath) -> None:
    """Draw, for each set, the share of slots with each mark and the distribution of the distances between marks, in
    words, and save the figure as the PNG file `path`."""
    figure, (bars, lengths) = new_figure(["", ""], *PICTURE)
    width = 0.8 / max(len(sets), 1)
    for number, ((name, counts), colour) in enumerate(zip(sets.items(), COLOURS * len(sets))):
        labels = list(counts.slots)[1:]
        bars.bar(np.arange(len(labels)) + (number - (len(sets) - 1) / 2) * width, [counts.share(one) for one in labels],
                 width, color=colour, label=plain(name))
        bars.set_xticks(range(len(labels)), map(plain, labels), rotation=30 if len(labels) > 4 else 0)
        shares = 100 * counts.lengths / max(counts.lengths.sum(), 1)
        lengths.stairs(shares[1:], np.arange(1, MOST_WORDS + 2), color=colour, linewidth=1.5, label=plain(name))
    bars.set_ylabel("share of the slots [%]")
    lengths.set_xlabel(f"words from one mark to the next ({MOST_WORDS}: or more)")
    lengths.set_ylabel("share of the marks [%]")
    for axes in (bars, lengths):
        axes.legend(fontsize="small")
    save(figure, path)
