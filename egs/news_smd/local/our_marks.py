#!/usr/bin/env python3
"""usage: local/our_marks.py COUNTS PUBLISHED

Estimates the overall F1 that the published systems would have on our test sets, and prints it in the row format of
PUBLISHED, a table of published figures. The overall F1 depends on how many of the marks are commas, which are harder.
The precision and recall of each mark depend less on this. COUNTS is a Markdown file with the tables that
local/count_sets.py printed.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from punc.bin.script import run_script
from punc.results.page_data import read_published

SUFFIX = " (our marks)"


def marks_of(path: str) -> dict[str, dict[str, int]]:
    """Read how often each mark occurs in each set from the tables in a Markdown file."""
    marks, header = {}, []
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[:2] == ["set", "texts"]:
            header = cells
        elif header and re.fullmatch("`.*`", cells[0]):
            marks[cells[0].strip("`")] = {name: int(cell.replace(",", "")) for name, cell in zip(header, cells)
                                          if name.isupper()}
        elif not line.startswith("|--"):
            header = []
    return marks


def overall_f1(published: Mapping[str, float], marks: Mapping[str, int]) -> float:
    """Return the overall F1 that a system would have on text with these numbers of marks, given its precision and
    recall of each mark. All figures are in percent.

    The recall gives the number of correct marks. This number, divided by the precision, is the number of output marks.
    """
    found = {mark: number * published[f"{mark}.R"] for mark, number in marks.items()}
    written = sum(100 * correct / published[f"{mark}.P"] for mark, correct in found.items() if correct)
    return 200 * sum(found.values()) / (written + 100 * sum(marks.values()))


def main(counts: str, published: str) -> None:
    marks, figures, sources = marks_of(counts), {}, {}
    for row in read_published(published):
        if not row.system.endswith(SUFFIX):
            figures.setdefault((row.system, row.set), {})[row.metric] = row.value
            sources[row.system, row.set] = row.source
    for (system, name), known in figures.items():
        if name in marks and all(f"{mark}.{part}" in known for mark in marks[name] for part in "PR"):
            print(f"{system}{SUFFIX}", name, "overall.F1", f"{overall_f1(known, marks[name]):.1f}",
                  f"computed from {sources[system, name]}: P and R of each mark; marks are counted in {name}",
                  sep="\t")


if __name__ == "__main__":
    run_script(main, __doc__)
