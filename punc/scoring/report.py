"""A score directory: its files, its signature, and its figures as a table for a reader."""

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np

import punc
from punc.base.errors import InputError
from punc.base.files import atomic_dir, atomic_file, read_lines
from punc.data.labels import LabelSet
from punc.scoring.metrics import Counts, write_counts
from punc.scoring.significance import Comparison, Interval

PRF = ("P", "R", "F1")


def signature(counts: Counts, labels: LabelSet, checksum: str, block: int, last_slot: str, replicates: int,
              seed: int) -> str:
    """One line that says what a score depends on: two scores are comparable where their signatures are the same.

    checksum   of the reference data directory (punc.data.datadir.checksum)
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


def write_score(path: str | os.PathLike, counts: Counts, labels: LabelSet, measured: Mapping[str, Interval],
                signed: str, comparison: Mapping[str, Comparison] | None = None) -> None:
    """Write a score directory: counts.tsv, labels.txt, figures.tsv, signature and, where compared, against.tsv."""
    with atomic_dir(path) as directory:
        write_counts(directory / "counts.tsv", counts, labels)
        labels.write(directory / "labels.txt")
        (directory / "signature").write_text(signed + "\n", encoding="utf-8")
        write_tsv(directory / "figures.tsv", ("metric", "value", "low", "high"),
                   ((name, *interval) for name, interval in measured.items()))
        if comparison is not None:
            write_tsv(directory / "against.tsv", ("metric", *Comparison._fields),
                       ((name, *compared) for name, compared in comparison.items()))
    if comparison is None:  # an older run's would not belong to these counts
        (Path(path) / "against.tsv").unlink(missing_ok=True)


def write_tsv(path: str | os.PathLike, header: Iterable[str], rows: Iterable[Sequence]) -> None:
    """Write rows under a header; numbers have 4 decimals, so that rounding them again does no harm."""
    with atomic_file(path) as file:
        file.write("\t".join(header) + "\n")
        for row in rows:
            file.write("\t".join(cell if isinstance(cell, str) else f"{cell:.4f}" for cell in row) + "\n")


def read_tsv(path: str | os.PathLike, header: Sequence[str], numbers: Sequence[str]) -> list[list]:
    """The rows under `header`, columns named in `numbers` as floats. Raises InputError for any other line."""
    rows = []
    for number, line in read_lines(path):
        cells = line.split("\t")
        try:
            if not rows and cells != list(header):
                raise ValueError
            rows.append([float(cell) if rows and name in numbers else cell
                         for name, cell in zip(header, cells, strict=True)])
        except ValueError:
            raise InputError("not a line of this table", f"columns, with tabs between: {' '.join(header)}",
                             path, number) from None
    return rows[1:]


def score_table(measured: Mapping[str, Interval], comparison: Mapping[str, Comparison] | None = None) -> str:
    """The figures for a reader: one line a label or class, then the rates, with 95 % intervals; a comparison below."""
    lines = [f"{'%':<24}" + "".join(f"{name:>7} {'':<13}" for name in PRF)]
    for column in columns(measured):
        names = [f"{column}.{part}" for part in PRF] if f"{column}.P" in measured else [column]
        lines.append(f"{column:<24}" + "".join(_interval(measured[name]) for name in names))
    if comparison is not None:
        lines += ["", f"{'':<24}{'this':>7}{'other':>7}{'diff.':>7} {'95 %':<15}{'p':>6}"]
        lines += [f"{name:<24}{c.this:>7.1f}{c.other:>7.1f}{c.difference:>+7.1f} {f'{c.low:+.1f} … {c.high:+.1f}':<15}"
                  f"{c.p:>6.4f}" for name, c in comparison.items() if is_summary(name)]
    return "\n".join(line.rstrip() for line in lines)


def _interval(figure: Interval) -> str:
    value = "–" if np.isnan(figure.value) else f"{figure.value:.1f}"
    bounds = "" if np.isnan(figure.low) else f"{figure.low:.1f}–{figure.high:.1f}"
    return f"{value:>7} {bounds:<13}"


def columns(metrics: Iterable[str]) -> list[str]:
    """The columns of a table: the P, R and F1 of a label are one."""
    return list(dict.fromkeys(name.rpartition(".")[0] if name.endswith((".P", ".R", ".F1")) and
                              not name.startswith("macro.") else name for name in metrics))


def is_summary(name: str) -> bool:
    """Whether a metric is one that systems are compared by, not a part of another."""
    return name.endswith(".F1") or name in ("Err", "SER")
