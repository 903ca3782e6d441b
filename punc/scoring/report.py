"""A score directory: its files, its signature, and its metrics as a table to read."""

import os
import platform
from collections.abc import Mapping
from contextlib import AbstractContextManager
from importlib.metadata import version
from pathlib import Path

import numpy as np

import punc
from punc.base.files import atomic_dir
from punc.data.labels import LabelSet
from punc.scoring.counts import Counts, write_counts
from punc.scoring.metrics import columns, is_summary, rows_of
from punc.scoring.ratios import PARTS
from punc.scoring.significance import Comparison, Interval
from punc.scoring.tsv import write_tsv

METRICS = "metrics.tsv"
METRICS_HEADER = ("metric", *Interval._fields)


def signature(counts: Counts, labels: LabelSet, checksum: str, block: int, last_slot: str, replicates: int,
              seed: int) -> str:
    """One line that says what a score depends on: scores with equal signatures can be compared.

    checksum   of the reference data directory (`data.datadir.checksum`)
    """
    aligned = f"aligned by edit distance in {counts.aligned} of {counts.streams} streams"
    parts = {
        "labels": "+".join(labels.names),
        "words": aligned if counts.aligned else "same",
        "last-slot": last_slot,
        "slots": counts.confusion.sum(),
        "marks": counts.confusion[:, 1:].sum(),
        "units": f"{len(counts.units)} " + (f"blocks of {block} slots" if block else "utterances"),
        "bootstrap": replicates,
        "seed": seed,
        "reference": checksum,
        "punc": punc.__version__,
        "python": ".".join(platform.python_version_tuple()[:2]),
        "numpy": np.__version__,
    } | ({"rapidfuzz": version("rapidfuzz")} if counts.aligned else {})
    return "|".join(f"{name}:{value}" for name, value in parts.items())


def new_score(path: str | os.PathLike) -> AbstractContextManager[Path]:
    """A directory that replaces the score directory `path` when the block ends.

    No program reads a score without metrics.tsv. The comparison of an older run does not belong to new counts.
    """
    return atomic_dir(path, METRICS, ["against.tsv"])


def write_score(directory: Path, counts: Counts, labels: LabelSet, measured: Mapping[str, Interval],
                signed: str, comparison: Mapping[str, Comparison] | None = None) -> None:
    """Write the files of a score: counts.tsv, labels.txt, metrics.tsv, signature; after a comparison, against.tsv."""
    write_counts(directory / "counts.tsv", counts, labels)
    labels.write(directory / "labels.txt")
    (directory / "signature").write_text(signed + "\n", encoding="utf-8")
    write_tsv(directory / METRICS, METRICS_HEADER, ((name, *interval) for name, interval in measured.items()))
    if comparison is not None:
        write_tsv(directory / "against.tsv", ("metric", *Comparison._fields),
                  ((name, *compared) for name, compared in comparison.items()))


def score_table(measured: Mapping[str, Interval], comparison: Mapping[str, Comparison] | None = None) -> str:
    """The metrics as text: one line per column, with 95 % intervals; below them a comparison, if there is one."""
    lines = [f"{'%':<24}" + "".join(f"{name:>7} {'':<13}" for name in PARTS)]
    for column in columns(measured):
        rows = [name for name in rows_of(column) if name in measured] or [column]
        lines.append(f"{column:<24}" + "".join(_interval(measured[name]) for name in rows))
    if comparison is not None:
        lines += ["", f"{'':<24}{'this':>7}{'other':>7}{'diff.':>7} {'95 %':<15}{'p':>6}"]
        lines += [f"{name:<24}{c.this:>7.1f}{c.other:>7.1f}{c.difference:>+7.1f} {f'{c.low:+.1f} … {c.high:+.1f}':<15}"
                  f"{c.p:>6.4f}" for name, c in comparison.items() if is_summary(name)]
    return "\n".join(line.rstrip() for line in lines)


def _interval(measured: Interval) -> str:
    value = "–" if np.isnan(measured.value) else f"{measured.value:.1f}"
    bounds = "" if np.isnan(measured.low) else f"{measured.low:.1f}–{measured.high:.1f}"
    return f"{value:>7} {bounds:<13}"
