"""Metrics. Each file here is one, found by its name: to add a metric, add a file.

A metric is a function of counts, in percent. Its file has

    ORDER             where its rows stand among the others' in metrics.tsv
    READS             which counts: "slots", confusion counts (…, labels, labels); "words", word errors (…, FORMS,
                      OUTCOMES); or "posteriors", histograms (…, labels, 2, bins)
    FIGURE            the name of its only row, as `Err`, or with `*` for a label's name; empty if its rows are P, R and
                      F1 of columns: `COMMA.P`, …
    LOWER_IS_BETTER   whether the best system has the lowest value
    compute           (counts float64, labels, collapses) -> {row: values (…)}, none for labels that it is not of

A value that would divide by zero is NaN: P of a label that is never predicted, R of one that is never expected, F1 if
both are so. F1 of a label that is expected and never predicted is 0.
"""

import importlib
import pkgutil
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Protocol, cast

import numpy as np

from punc.data.labels import LabelSet
from punc.scoring.collapse import Collapse
from punc.scoring.ratios import PARTS, SUMMARY
from punc.scoring.stream_counts import FORMS, OUTCOMES


class Metric(Protocol):
    """What a metric's file has; see above."""

    ORDER: int
    READS: str
    FIGURE: str
    LOWER_IS_BETTER: bool

    @staticmethod
    def compute(counts: np.ndarray, labels: LabelSet, collapses: Sequence[Collapse]) -> dict[str, np.ndarray]:
        """The metric's rows."""


def _find() -> list[Metric]:
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    found = [cast(Metric, importlib.import_module(f"{__name__}.{name}")) for name in names]
    return sorted(found, key=lambda metric: metric.ORDER)


METRICS = _find()
FIGURES = {metric.FIGURE: metric for metric in METRICS if metric.FIGURE}


def compute_metrics(counts: np.ndarray, labels: LabelSet, collapses: Sequence[Collapse] = (),
                    others: Mapping[str, np.ndarray] | None = None) -> dict[str, np.ndarray]:
    """All metrics, in percent, of confusion counts (…, labels, labels); each has the shape (…).

    others   other counts, by what metrics read: "words", "posteriors"; without them, their metrics are left out
    """
    found = {"slots": counts, **(others or {})}
    read = {name: np.asarray(table, np.float64) for name, table in found.items()}
    return {name: values for metric in METRICS if metric.READS in read
            for name, values in metric.compute(read[metric.READS], labels, collapses).items()}


def compute_flat(counts: np.ndarray, labels: LabelSet, collapses: Sequence[Collapse] = ()) -> dict[str, np.ndarray]:
    """All metrics of `Counts.flat` or sums of it, (…, numbers)."""
    pairs = len(labels) ** 2
    slots = counts[..., :pairs].reshape(*counts.shape[:-1], len(labels), len(labels))
    words = counts[..., pairs:].reshape(*counts.shape[:-1], FORMS, OUTCOMES) if counts.shape[-1] > pairs else None
    return compute_metrics(slots, labels, collapses, {} if words is None else {"words": words})


def figure(name: str) -> Metric | None:
    """The metric whose only row, or whose row of a label, this is; None for P, R and F1 of a column."""
    return next((metric for pattern, metric in FIGURES.items() if fnmatchcase(name, pattern)), None)


def column_of(name: str) -> str:
    """The column of a row in a table: `COMMA` for `COMMA.P`, `COMMA.R` and `COMMA.F1`; else the row's own name."""
    column, _, part = name.rpartition(".")
    return column if part in PARTS and not figure(name) else name


def columns(names: Iterable[str]) -> list[str]:
    """The columns of a table of metrics, in their order."""
    return list(dict.fromkeys(map(column_of, names)))


def rows_of(column: str) -> list[str]:
    """The rows of a column: `COMMA.P`, `COMMA.R` and `COMMA.F1` of `COMMA`."""
    return [column] if figure(column) else [f"{column}.{part}" for part in PARTS]


def is_summary(name: str) -> bool:
    """Whether systems are compared by a row: by F1 and single figures, not by P and R alone."""
    return figure(name) is not None or (column_of(name) != name and name.endswith(f".{SUMMARY}"))


def lower_is_better(name: str) -> bool:
    """Whether the best system has the lowest value in a row."""
    metric = figure(name)
    return metric is not None and metric.LOWER_IS_BETTER
