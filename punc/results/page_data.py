"""The data of result pages: RESULTS.tsv, the tables in results/, and a table of published figures.

    RESULTS.tsv               one line per figure: system, set, metric, value, low, high
    results/signatures.tsv    what each score depends on
    results/tests.tsv         paired tests, if there are any
    results/costs.tsv         what training cost, if there are training logs
    results/command.txt       the command that made the figures, if it is known
    results/*.png             pictures

The pages (`pages`) depend only on these files and the settings. The runs of a system with several seeds are called
SYSTEM, SYSTEM.seed2, SYSTEM.seed3, …; a page shows them as one row. New pages can keep rows of older pages.
"""

import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError, StrPath
from punc.base.files import atomic_dir, unchanged
from punc.scoring.report import read_tsv, signature_parts, write_tsv
from punc.scoring.significance import Interval

PAGES = ("RESULTS.tsv", "RESULTS.md")
KEY = "RESULTS.tsv"  # a directory without this file counts as a directory without results
RESULTS_HEADER = ("system", "set", "metric", *Interval._fields)
SIGNATURES_HEADER = ("system", "set", "signature")
SEED = re.compile(r"\.seed\d+$")
# Parts of a signature that must be equal in all rows of a set.
SAME = ("labels", "words", "last-slot", "slots", "reference")


class PairedTest(NamedTuple):
    """A paired test of two systems."""

    this: str
    other: str
    set: str
    metric: str
    difference: float  # `this` − `other`, in percent; its 95 % interval is `low` to `high`
    low: float
    high: float
    p: float  # two-sided


class Cost(NamedTuple):
    """The cost of training a system. Epochs and tokens per second are NaN if the system is not trained in epochs."""

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
    """The data of one page. Systems and sets are in the order of the page."""

    metrics: dict[tuple[str, str], dict[str, Interval]]  # (system, set) -> {metric: value with interval}
    signatures: dict[tuple[str, str], str]  # (system, set) -> signature
    tests: list[PairedTest] = field(default_factory=list)
    costs: dict[str, Cost] = field(default_factory=dict)  # system -> cost of its training
    command: str = ""  # the command that made the figures
    pictures: list[str] = field(default_factory=list)  # file names in results/

    @property
    def sets(self) -> list[str]:
        return list(dict.fromkeys(name for _, name in self.metrics))

    @property
    def systems(self) -> list[str]:
        return list(dict.fromkeys(system for system, _ in self.metrics))

    def empty_labels(self) -> set[str]:
        """Return the names of the empty labels: the first label of the label set in each signature."""
        parts = (part for signed in self.signatures.values() for part in signed.split("|"))
        return {part.removeprefix("labels:").split("+")[0] for part in parts if part.startswith("labels:")}


def read_published(path: StrPath) -> list[Published]:
    """Read a TSV table of published figures with the header: system, set, metric, value, source."""
    return [Published(*row) for row in read_tsv(path, Published._fields, ("value",))]


def read_page_data(directory: StrPath) -> PageData:
    """Read the files that `write_page_data` writes. Raises InputError if a table is missing or broken."""
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


def pictures(directory: StrPath) -> list[str]:
    return sorted(path.name for path in Path(directory, "results").glob("*.png"))


def write_page_data(directory: StrPath, data: PageData) -> None:
    """Write RESULTS.tsv and the text files of results/ to a new directory. Leaves out tests, costs and the command if
    there are none."""
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


def publish(source: StrPath, target: StrPath) -> list[str]:
    """Copy RESULTS.md, RESULTS.tsv and the files of results/ from one directory to another. Return their names.

    Other files in the target's results/ are removed. The subdirectories of results/ stay, because they contain separate
    pages. Raises InputError if the source has no pages.
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


SPREAD = "± follows the mean of several seeds and gives their standard deviation"


class Spread(NamedTuple):
    """The mean of a metric over the runs of a system, its sample standard deviation, and the number of runs."""

    value: float
    deviation: float
    runs: int


Row = tuple[str, str]  # system and set
Metrics = Mapping[str, Interval | Spread]


def rank(name: str, order: Sequence[str]) -> tuple[int, bytes]:
    """Return a sort key: names in `order` come first, in that order; other names follow in C-locale order."""
    return (order.index(name) if name in order else len(order), name.encode())


def without_seed(system: str) -> str:
    """Return the system of a run: the run's name without .seedN."""
    return SEED.sub("", system)


def runs_of(system: str, names: Iterable[str]) -> list[str]:
    """Return the runs among `names` that the table row `system` shows: one run, or all seeds of a system (see
    `join_seeds`)."""
    found = [name for name in names if system in (name, without_seed(name))]
    return found if system in found or len(found) > 1 else []


def first_runs(systems: Iterable[str]) -> list[str]:
    first: dict[str, str] = {}
    for system in systems:
        first.setdefault(without_seed(system), system)
    return list(first.values())


def join_seeds(metrics: Mapping[Row, Mapping[str, Interval]]) -> dict[Row, Metrics]:
    """Return the metrics of each system and set. The seeds of a system become one row, in place of the first seed; a
    system with only one seed does not change."""
    runs: dict[Row, list[Row]] = {}
    for system, name in metrics:
        runs.setdefault((without_seed(system), name), []).append((system, name))
    joined: dict[Row, Metrics] = {}
    for row, keys in runs.items():
        found = [metrics[key] for key in keys]
        if len(keys) == 1:
            joined[keys[0]] = found[0]
        else:
            common = [metric for metric in found[0] if all(metric in one for one in found)]
            values = np.array([[one[metric].value for metric in common] for one in found])  # (runs, metrics)
            spreads = zip(values.mean(axis=0).tolist(), values.std(axis=0, ddof=1).tolist())
            joined[row] = {metric: Spread(*spread, len(found)) for metric, spread in zip(common, spreads)}
    return joined


def keep_rows(new: PageData, kept: PageData, directory: StrPath, systems: Sequence[str] = (),
              sets: Sequence[str] = ()) -> PageData:
    """Return the rows of `new`, and the rows of `kept` (read from `directory`) whose systems are not in `new`.

    If a system is in `new`, all its rows in `kept` are dropped, even those of seeds and sets that are not in `new`,
    because they may come from earlier training runs. The system's tests in `kept` are dropped, too, unless all its
    figures are the same as before.

    Raises InputError if rows of a set cannot be compared, because their slots or references differ.
    """
    fresh = {without_seed(system) for system in new.systems}
    rows = {key: row for key, row in kept.metrics.items() if without_seed(key[0]) not in fresh}
    _check_comparable(new.signatures, {key: kept.signatures.get(key, "") for key in rows}, directory)
    metrics, signatures = rows | new.metrics, kept.signatures | new.signatures
    order = sorted(metrics, key=lambda key: (rank(key[1], sets), rank(key[0], systems)))
    others = {system for system, _ in rows}
    repeated = {system for system in fresh if _figures(new, system) == _figures(kept, system)}
    tested = repeated | {without_seed(system) for system in others}
    own = {test[:4] for test in new.tests}
    tests = [test for test in kept.tests
             if test[:4] not in own and {without_seed(test.this), without_seed(test.other)} <= tested]
    commands = [*(kept.command.splitlines() if rows else []), *new.command.splitlines()]
    return PageData({key: metrics[key] for key in order}, {key: signatures[key] for key in order if key in signatures},
                    sorted([*new.tests, *tests], key=lambda test: rank(test.set, sets)),
                    {system: cost for system, cost in kept.costs.items() if system in others} | new.costs,
                    "\n".join(dict.fromkeys(commands)), sorted({*kept.pictures, *new.pictures}))


def dropped_rows(new: PageData, kept: PageData) -> list[Row]:
    """Return the rows of `kept` that `keep_rows` drops without a new row in their place: the system is in `new`, but
    not with this seed and set."""
    fresh = {without_seed(system) for system in new.systems}
    return [key for key in kept.metrics if without_seed(key[0]) in fresh and key not in new.metrics]


def _figures(data: PageData, system: str) -> dict[Row, str]:
    """Return all figures of a system's runs, as text, so that NaN equals NaN."""
    return {key: str(row) for key, row in data.metrics.items() if without_seed(key[0]) == system}


def _check_comparable(new: Mapping[Row, str], kept: Mapping[Row, str], directory: StrPath) -> None:
    first: dict[str, dict[str, str]] = {}
    for (_, name), signed in new.items():
        first.setdefault(name, signature_parts(signed))
    for (system, name), signed in kept.items():
        ours, theirs = first.get(name, {}), signature_parts(signed)
        for part in SAME:
            if name in first and ours.get(part) != theirs.get(part):
                raise InputError(f"{name} of {system} has {part}:{theirs.get(part)}, new rows have {ours.get(part)}",
                                 "rows of different data cannot be on one page; make the sets from the same corpus",
                                 directory)
