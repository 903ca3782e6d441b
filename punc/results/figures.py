"""Figures by matplotlib, an extra: those of a report as SVG inside a page, those of a recipe as PNG files.

Text and axes of a report have the page's text colour, so that a plot is read on a light and on a dark page. A system
has the same colour, dash and marker in all plots.
"""

import importlib.util
import io
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from punc.base.files import atomic_file

TEXT = "#123456"  # stands for the page's text colour, currentColor
COLOURS = ("#2f7fc1", "#d1495b", "#3f9b57", "#a86bd1", "#c77d0a", "#1f9e9e", "#a0705a", "#8a8a8a")
DASHES = ("-", "--", "-.", ":")
MARKERS = "osD^vPX*"
CURVES = len(COLOURS)  # systems in a plot; the tables have all
WIDTH, HEIGHT = 4.6, 3.2  # inches of a panel

Curves = Mapping[str, tuple[Any, Any]]  # x and y by system


def missing_packages(*names: str) -> list[str]:
    """Those of the packages that are not installed."""
    return [name for name in names if importlib.util.find_spec(name) is None]


def styles(systems: Iterable[str]) -> dict[str, dict[str, Any]]:
    """How the systems are drawn; those after the first CURVES are not."""
    return {system: {"color": COLOURS[i], "linestyle": DASHES[i % len(DASHES)], "marker": MARKERS[i], "markersize": 4,
                     "linewidth": 1.5} for i, system in zip(range(CURVES), systems)}


def plain(text: str) -> str:
    """A text as a figure shows it, in which matplotlib would read what stands between `$` as mathematics."""
    return text.replace("$", r"\$")


def new_figure(titles: Sequence[str], width: float, height: float, colour: str = "black",
               layout: Any = "constrained") -> tuple[Any, list[Any]]:
    """A figure of width × height inches, and its panels, in a row, with these titles and text of a colour."""
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


def save(figure: Any, path: str | os.PathLike) -> None:
    """Write a figure as a PNG file, whole or not at all; no display is needed."""
    with atomic_file(path, "wb") as file:
        figure.savefig(file, format="png", dpi=120)


def draw(curves: Mapping[str, Curves], style: Mapping[str, dict[str, Any]], name: str,
         points: Mapping[str, Curves] | None = None, markers: bool = True,
         diagonal: bool = False, ticks: Sequence[str] = (), logarithmic: Sequence[str] = (), **settings: Any) -> str:
    """A figure of a report, as an SVG element whose ids begin with `name`: a panel for each group of curves.

    curves        (x, y) by panel title, then by system
    style         of the systems (`styles`); others are not drawn
    points        (x, y) of large markers, likewise
    markers       whether curves have small ones
    diagonal      draw x = y
    ticks         names of x = 0, 1, …
    logarithmic   titles of the panels with a logarithmic y
    settings      of the axes, as `xlabel`, `ylim`
    """
    width = WIDTH if len(curves) == 1 else WIDTH * 0.72 * len(curves)
    columns = max(1, int(width / 1.6))
    drawn = [system for system in style if any(system in panel for panel in curves.values())]
    legend = 0.2 * -(-len(drawn) // columns)  # inches
    height = HEIGHT + legend
    figure, panels = new_figure(list(curves), width, height, TEXT, layout=None)
    # A constrained layout would take a third of the time of the whole page.
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
    handles: dict[str, Any] = {}  # one legend for all panels
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
    return inline(file.getvalue(), name)


def inline(svg: str, name: str) -> str:
    """An SVG file as an element of a page: ids are unique in the page, and text has the page's colour."""
    svg = svg[svg.index("<svg"):].replace(TEXT, "currentColor")
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'(href="|url\()#', rf"\1#{name}-", svg)
    return svg.replace("<svg ", '<svg aria-hidden="true" ', 1)  # the figure element has the name, the table the values
