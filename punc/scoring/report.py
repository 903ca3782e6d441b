"""Writes score directories and tables, and formats scores as text, JSON and Markdown."""

import hashlib
import json
import math
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import punc
from punc.base.errors import InputError, StrPath
from punc.base.files import atomic_dir, atomic_file, check_outputs, read_lines
from punc.data.labels import LabelSet
from punc.scoring.counts import Counts, write_counts
from punc.scoring.metrics import PARTS, columns, is_summary, rows_of
from punc.scoring.significance import REPLICATES, SEED, Comparison, Interval

METRICS = "metrics.tsv"
METRICS_HEADER = ("metric", *Interval._fields)


def signature(counts: Counts, labels: LabelSet, checksum: str, last_slot: str) -> str:
    """Return the signature of a score: a line that lists the data, settings and versions behind the score. Scores with
    the same signature can be compared."""
    aligned = f"aligned by edit distance in {counts.aligned} of {counts.streams} streams"
    units = f"{len(counts.units)} blocks of {counts.block} words"  # the units that intervals and tests resample
    parts = {
        "labels": "+".join(labels.names),
        "words": aligned if counts.aligned else "same",
        "last-slot": last_slot,
        "slots": counts.confusion.sum(),
        "marks": counts.confusion[:, 1:].sum(),
        "units": f"{units} in {counts.streams} streams" if counts.block else f"{len(counts.units)} streams",
        "bootstrap": REPLICATES,
        "seed": SEED,
        "reference": checksum,
        "punc": f"{punc.__version__}+{code_digest()}",
        "python": ".".join(platform.python_version_tuple()[:2]),
        "numpy": np.__version__,
    } | ({"rapidfuzz": version("rapidfuzz")} if counts.aligned else {})
    return "|".join(f"{name}:{value}" for name, value in parts.items())


def code_digest() -> str:
    """Return 8 hex digits of a hash of the package's code, because the code can change while the version stays the
    same."""
    package, digest = Path(punc.__file__).parent, hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(f"{path.relative_to(package).as_posix()}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:8]


def signature_parts(signed: str) -> dict[str, str]:
    return dict(part.partition(":")[::2] for part in signed.split("|"))


def check_labels(path: StrPath, labels: StrPath) -> None:
    """Raise InputError if the labels.txt of the score directory `path` would replace the file `labels`, which may
    belong to a model."""
    check_outputs([os.path.join(path, "labels.txt")], [os.fspath(labels)])


def new_score(path: StrPath) -> AbstractContextManager[Path]:
    """Yield a new directory. When the `with` block ends, its files move into the score directory `path`, and an old
    against.tsv is removed."""
    return atomic_dir(path, METRICS, ["against.tsv"])


def write_score(directory: Path, counts: Counts, labels: LabelSet, measured: Mapping[str, Interval],
                signed: str, comparison: Mapping[str, Comparison] | None = None) -> None:
    """Write the files of a score: counts.tsv, labels.txt, metrics.tsv, signature and, if compared, against.tsv."""
    write_counts(directory / "counts.tsv", counts, labels)
    labels.write(directory / "labels.txt")
    (directory / "signature").write_text(signed + "\n", encoding="utf-8")
    write_tsv(directory / METRICS, METRICS_HEADER, ((name, *interval) for name, interval in measured.items()))
    if comparison is not None:
        write_tsv(directory / "against.tsv", ("metric", *Comparison._fields),
                  ((name, *compared) for name, compared in comparison.items()))


def score_json(measured: Mapping[str, Interval], signed: str,
               comparison: Mapping[str, Comparison] | None = None) -> str:
    """Return the metrics as JSON: {"signature", "metrics": {name: {"value", "low", "high"}}, "against": {name: {…}}}.
    All numbers except p are in percent; null means undefined."""
    content: dict[str, object] = {"signature": signed, "metrics": _plain(measured)}
    if comparison is not None:
        content["against"] = _plain(comparison)
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)


def systems_json(measured: Mapping[str, Mapping[str, Interval]], signed: Mapping[str, str],
                 tests: Mapping[str, Mapping[str, Comparison]]) -> str:
    """Return a JSON list with an object for each system: the object of `score_json`, plus the system's name under
    "system"."""
    rows = [{"system": name} | json.loads(score_json(measured[name], signed[name], tests.get(name)))
            for name in measured]
    return json.dumps(rows, indent=1, ensure_ascii=False, allow_nan=False)


def _plain(rows: Mapping[str, Interval] | Mapping[str, Comparison]) -> dict[str, dict[str, float | None]]:
    return {name: {part: value if np.isfinite(value) else None for part, value in row._asdict().items()}
            for name, row in rows.items()}


def score_table(measured: Mapping[str, Interval], comparison: Mapping[str, Comparison] | None = None) -> str:
    """Format the metrics with 95 % intervals (P, R and F1 share a line), and the comparison if there is one."""
    lines = [f"{'%':<24}" + "".join(f"{name:>7} {'':<13}" for name in PARTS)]
    for column in columns(measured):
        rows = [name for name in rows_of(column) if name in measured] or [column]
        lines.append(f"{column:<24}" + "".join(_interval(measured[name]) for name in rows))
    if comparison is not None:
        lines += ["", *_test_lines(comparison)]
    return "\n".join(line.rstrip() for line in lines)


def _test_lines(comparison: Mapping[str, Comparison]) -> list[str]:
    return [f"{'':<24}{'this':>7}{'other':>7}{'diff.':>7} {'95 %':<15}{'p':>6}",
            *(f"{name:<24}{c.this:>7.1f}{c.other:>7.1f}{c.difference:>+7.1f} {f'{c.low:+.1f} … {c.high:+.1f}':<15}"
              f"{c.p:>6.4f}" for name, c in comparison.items() if is_summary(name))]


def _interval(measured: Interval) -> str:
    bounds = "" if np.isnan(measured.low) else f"{measured.low:.1f}–{measured.high:.1f}"
    return f"{figure(measured.value):>7} {bounds:<13}"


def system_table(measured: Mapping[str, Mapping[str, Interval]], tests: Mapping[str, Mapping[str, Comparison]]) -> str:
    """Format a table with a line per metric and a column per system, then the tests against the first system."""
    names = [name for rows in measured.values() for name in rows if is_summary(name)]
    width = max(22, *(len(name) + 2 for name in measured))
    lines = [f"{'%':<18}" + "".join(f"{name:>{width}}" for name in measured)]
    for row in dict.fromkeys(names):
        cells = (_interval(rows[row]).strip() if row in rows else "" for rows in measured.values())
        lines.append(f"{row:<18}" + "".join(f"{cell:>{width}}" for cell in cells))
    for name, comparison in tests.items():
        lines += ["", f"{name} − {next(iter(measured))}", *_test_lines(comparison)]
    return "\n".join(line.rstrip() for line in lines)


def write_tsv(path: StrPath, header: Iterable[str], rows: Iterable[Sequence[str | float]]) -> None:
    """Write rows under a header. Numbers are written with 4 decimals, so that a page can round them further."""
    with atomic_file(path) as file:
        file.write("\t".join(header) + "\n")
        for row in rows:
            file.write("\t".join(cell if isinstance(cell, str) else f"{cell:.4f}" for cell in row) + "\n")


def read_tsv(path: StrPath, header: Sequence[str], numbers: Sequence[str]) -> list[list[Any]]:
    """Read the rows of a table whose first line is `header`. Cells in the columns `numbers` become floats. Raises
    InputError for an invalid line."""
    rows: list[list[Any]] = []
    for number, line in read_lines(path):
        cells = line.split("\t")
        try:
            if not rows and cells != list(header):
                raise ValueError
            rows.append([float(cell) if rows and name in numbers else cell
                         for name, cell in zip(header, cells, strict=True)])
        except ValueError:
            raise InputError("the line does not fit the table", f"columns, with tabs between: {' '.join(header)}",
                             path, number) from None
    return rows[1:]


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def figure(value: float | None) -> str:
    """Format a figure for readers: with one decimal, or as `–` if the figure is undefined."""
    return "–" if value is None or math.isnan(value) else f"{value:.1f}"


def duration(seconds: float) -> str:
    """Format a duration for readers: `47 s`, `12 min`, `3 h 5 min`."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def chance(p: float) -> str:
    """Format a probability for readers: `0.0312`, `<0.0001`."""
    return "<0.0001" if p < 0.00005 else f"{p:.4f}"
