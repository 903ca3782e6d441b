#!/usr/bin/env python3
"""usage: local/our_marks.py COUNTS PUBLISHED

Estimates the overall F1 that the published systems would have on our test sets, and prints it in the row format of
PUBLISHED, a table of published figures. The overall F1 depends on how many of the marks are commas, which are harder to
restore. The precision and recall of each mark depend less on the test set, so the published values are combined with
the numbers of marks in our test sets. COUNTS is a Markdown file with these numbers, in tables that local/count_sets.py
printed.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from punc.bin.script import run_script
from punc.results.page_data import read_published

SUFFIX = " (our marks)"


def marks_of(path: str) -> dict[str, dict[str, int]]:
    """Read the tables in a Markdown file. Return how often each mark occurs in each set."""
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
    """Return the overall F1 that a system would have on text with the numbers of marks in `marks`, given the precision
    and recall of each mark in `published`. F1, precision and recall are in percent.

    The recall times the number of marks in the text is the number of correct marks. The number of correct marks divided
    by the precision is the number of marks in the output.
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
