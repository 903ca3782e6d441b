#!/usr/bin/env python3
"""usage: utils/plot_readme.py README OUT-DIR

Draws README.md's table of results as OUT-DIR/results_light.svg and OUT-DIR/results_dark.svg. The table names the
systems, metrics and sets; the values come from RESULTS.tsv and conf/published.tsv of the recipes. Filled markers show
results on references, hollow ones results on ASR output. The committed files were made with `utils/plot_readme.py
README.md docs/images`.
"""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from punc.base.errors import InputError
from punc.base.files import atomic_file
from punc.bin.script import run_script
from punc.results.figures import COLOURS, new_figure
from punc.results.page_data import join_seeds, read_page_data, read_published

TEXT = {"light": "#1f2328", "dark": "#e6edf3"}
KINDS = {"ours": (COLOURS[0], "o"), "to compare": (COLOURS[4], "s"), "published, same test set": (COLOURS[1], "D"),
         "published, another test set": (COLOURS[7], "^")}
PANELS = {"F1 of all marks [%]": False, "wrong slots [%]": True}  # title of each panel, and whether it shows Err


class Row(NamedTuple):
    """A row of the table: its name, whether its metric is Err, and its points (kind, value, whether on ASR output)."""

    name: str
    is_err: bool
    points: list[tuple[str, float, bool]]


def main(readme: Path, out: Path) -> None:
    rows = list(read_rows(readme))
    for theme, colour in TEXT.items():
        with atomic_file(out / f"results_{theme}.svg", "wb") as file:
            file.write(draw(rows, colour))


def read_rows(readme: Path) -> Iterator[Row]:
    """Yield the rows of the table under the heading Results. Raises InputError if RESULTS.tsv or published.tsv has no
    value for a system in a row."""
    table = readme.read_text(encoding="utf-8").partition("\n## Results\n")[2].partition("\n## ")[0]
    names: set[str] = set()
    for number, line in enumerate(table.splitlines()):
        if line.startswith("| ["):
            link, text, measured, *columns = (cell.strip() for cell in line.strip("|").split("|"))
            metric, sets = measured.split(", ")
            page = readme.parent / re.sub(r".*\((.*)\)", r"\1", link)
            recipe = next(folder for folder in page.parents if folder.parent.name == "egs")
            points = []
            for kind, entries in zip(KINDS, columns):
                values = published(recipe) if "published" in kind else measured_by(page.parent)
                for name in re.findall(r"(?:^|; )(.+?) [\d.]+ ?[^;]*", entries):
                    found = [(kind, values[name, one][metric], position > 0)
                             for position, one in enumerate(sets.split(" / ")) if metric in values.get((name, one), {})]
                    if not found:
                        raise InputError(f"no {metric} of {name} on {sets}", "correct the table", readme, number)
                    points += found
            name = link.partition("]")[0].lstrip("[")
            name += f", {text.partition(',')[0]}" if name in names else ""
            names.add(name)
            yield Row(name, metric == "Err", points)


def measured_by(directory: Path) -> dict[tuple[str, str], dict[str, float]]:
    """Return the values of a page's metrics by system and set. The values of several seeds are averaged."""
    metrics = read_page_data(directory).metrics
    return {key: {name: one.value for name, one in row.items()}
            for key, row in {**metrics, **join_seeds(metrics)}.items()}


def published(recipe: Path) -> dict[tuple[str, str], dict[str, float]]:
    found: dict[tuple[str, str], dict[str, float]] = {}
    for one in read_published(recipe / "conf/published.tsv"):
        found.setdefault((one.system, one.set), {})[one.metric] = one.value
    return found


def draw(rows: list[Row], colour: str) -> bytes:
    """Return the plot as SVG, with text in `colour`. The text is not converted to paths. Equal rows give equal
    bytes."""
    import matplotlib as mpl

    figure, panels = new_figure([*PANELS], 8.6, 3.4, colour)
    figure.patch.set_visible(False)
    for axes, is_err in zip(panels, PANELS.values()):
        some = [row for row in rows if row.is_err == is_err]
        for height, row in enumerate(reversed(some)):
            for kind, value, is_asr in row.points:
                tint, marker = KINDS[kind]
                axes.plot(value, height, marker, markersize=7, color=tint, markerfacecolor="none" if is_asr else tint)
        axes.set(yticks=range(len(some)), yticklabels=[row.name for row in reversed(some)],
                 ylim=(-0.6, len(some) - 0.4))
    handles: list[Any] = [panels[0].plot([], [], marker, color=tint, label=kind)[0]
                          for kind, (tint, marker) in KINDS.items()]
    handles.append(panels[0].plot([], [], "o", color=colour, markerfacecolor="none", label="hollow: ASR output")[0])
    figure.legend(handles=handles, loc="outside lower center", ncols=3, fontsize=8, labelcolor=colour, frameon=False)
    buffer = io.BytesIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "punc"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None}, transparent=True)
    return buffer.getvalue()


if __name__ == "__main__":
    run_script(main, __doc__)
