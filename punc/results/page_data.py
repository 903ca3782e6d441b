"""What result pages are made from: RESULTS.tsv, the tables in results/, and a table of published figures.

    RESULTS.tsv               one line per figure: system, set, metric, value, low, high
    results/signatures.tsv    what each score depends on
    results/tests.tsv         paired tests, if there are any
    results/costs.tsv         what training cost, if there are training logs
    results/command.txt       the command that made the figures, if it is known
    results/*.png             pictures

The pages (`pages`) are a function of these files and of the settings alone.
"""

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from punc.base.errors import InputError
from punc.base.files import atomic_dir, unchanged
from punc.scoring.report import read_tsv, write_tsv
from punc.scoring.significance import Interval

PAGES = ("RESULTS.tsv", "RESULTS.md")
KEY = "RESULTS.tsv"  # no program reads results without it
RESULTS_HEADER = ("system", "set", "metric", *Interval._fields)
SIGNATURES_HEADER = ("system", "set", "signature")


class PairedTest(NamedTuple):
    """A paired test of two systems.

    difference   `this` − `other`, in percent; its 95 % interval is `low` to `high`
    p            two-sided
    """

    this: str
    other: str
    set: str
    metric: str
    difference: float
    low: float
    high: float
    p: float


class Cost(NamedTuple):
    """What training a system cost; epochs and tokens per second are NaN if it is not trained in epochs."""

    system: str
    epochs: float
    seconds: float
    tokens_per_second: float


class Published(NamedTuple):
    """One published figure, in percent, and its source."""

    system: str
    set: str
    metric: str
    value: float
    source: str


@dataclass
class PageData:
    """The figures of one page, all by system and set in the order of the page.

    metrics      (system, set) -> {metric: value with interval}
    signatures   (system, set) -> signature
    tests        paired tests
    costs        system -> cost of its training
    command      the command that made the figures
    pictures     file names in results/
    """

    metrics: dict[tuple[str, str], dict[str, Interval]]
    signatures: dict[tuple[str, str], str]
    tests: list[PairedTest] = field(default_factory=list)
    costs: dict[str, Cost] = field(default_factory=dict)
    command: str = ""
    pictures: list[str] = field(default_factory=list)

    @property
    def sets(self) -> list[str]:
        return list(dict.fromkeys(name for _, name in self.metrics))

    @property
    def systems(self) -> list[str]:
        return list(dict.fromkeys(system for system, _ in self.metrics))

    def empty_labels(self) -> set[str]:
        """The names of the empty labels, by the signatures."""
        parts = (part for signed in self.signatures.values() for part in signed.split("|"))
        return {part.removeprefix("labels:").split("+")[0] for part in parts if part.startswith("labels:")}


def read_published(path: str | os.PathLike) -> list[Published]:
    """Read a table of published figures: system, set, metric, value, source with tabs between, under that header."""
    return [Published(*row) for row in read_tsv(path, Published._fields, ("value",))]


def read_page_data(directory: str | os.PathLike) -> PageData:
    """Read what `write_page_data` wrote. Raises InputError if a table is missing or broken."""
    results = Path(directory) / "results"
    metrics: dict[tuple[str, str], dict[str, Interval]] = {}
    for system, name, metric, *value in read_tsv(results.parent / "RESULTS.tsv", RESULTS_HEADER, Interval._fields):
        metrics.setdefault((system, name), {})[metric] = Interval(*value)
    signatures = {(system, name): signed for system, name, signed in
                  read_tsv(results / "signatures.tsv", SIGNATURES_HEADER, ())}
    data = PageData(metrics, signatures, pictures=pictures(directory))
    if (results / "tests.tsv").is_file():
        rows = read_tsv(results / "tests.tsv", PairedTest._fields, PairedTest._fields[4:])
        data.tests = [PairedTest(*row) for row in rows]
    if (results / "costs.tsv").is_file():
        data.costs = {row[0]: Cost(*row) for row in read_tsv(results / "costs.tsv", Cost._fields, Cost._fields[1:])}
    if (results / "command.txt").is_file():
        data.command = (results / "command.txt").read_text(encoding="utf-8", errors="replace").rstrip("\n")
    return data


def pictures(directory: str | os.PathLike) -> list[str]:
    return sorted(path.name for path in Path(directory, "results").glob("*.png"))


def write_page_data(directory: str | os.PathLike, data: PageData) -> None:
    """Write RESULTS.tsv and the tables of results/ that are not empty, into a new directory."""
    results = Path(directory) / "results"
    write_tsv(results.parent / "RESULTS.tsv", RESULTS_HEADER,
              ((*key, metric, *value) for key, metrics in data.metrics.items() for metric, value in metrics.items()))
    write_tsv(results / "signatures.tsv", SIGNATURES_HEADER,
              ((*key, signed) for key, signed in data.signatures.items()))
    for name, header, rows in (("tests.tsv", PairedTest._fields, data.tests),
                               ("costs.tsv", Cost._fields, [*data.costs.values()])):
        if rows:
            write_tsv(results / name, header, rows)
    if data.command:
        (results / "command.txt").write_text(data.command + "\n", encoding="utf-8")


def publish(source: str | os.PathLike, target: str | os.PathLike) -> list[str]:
    """Copy RESULTS.md, RESULTS.tsv and the files of results/ from one directory to another.

    Files in the target's results/ that the source does not have are removed; directories
    there are pages of their own and stay. Returns the names of the files copied.
    Raises InputError if the source has no pages.
    """
    source = Path(source)
    for name in PAGES:
        if not (source / name).is_file():
            raise InputError("no such file", "make it with punc results", source / name)
    names = [f"results/{path.name}" for path in sorted((source / "results").glob("[!.]*")) if path.is_file()]
    names += PAGES
    with unchanged(source / KEY), atomic_dir(target, KEY, ["results/*"]) as tmp:
        (tmp / "results").mkdir()
        for name in names:
            with open(source / name, "rb") as page, open(tmp / name, "wb") as file:
                shutil.copyfileobj(page, file)
    return names
