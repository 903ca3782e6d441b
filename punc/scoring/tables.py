"""Tables: as text with tabs between columns, as Markdown, and numbers to read."""

import math
import os
from collections.abc import Iterable, Sequence
from typing import Any

from punc.base.errors import InputError
from punc.base.files import atomic_file, read_lines


def write_tsv(path: str | os.PathLike, header: Iterable[str], rows: Iterable[Sequence[str | float]]) -> None:
    """Write rows under a header. Numbers have 4 decimals, so rounding them again for a page does no harm."""
    with atomic_file(path) as file:
        file.write("\t".join(header) + "\n")
        for row in rows:
            file.write("\t".join(cell if isinstance(cell, str) else f"{cell:.4f}" for cell in row) + "\n")


def read_tsv(path: str | os.PathLike, header: Sequence[str], numbers: Sequence[str]) -> list[list[Any]]:
    """Read the rows under `header`, with the columns named in `numbers` as floats.

    Raises InputError for a line that does not fit.
    """
    rows: list[list[Any]] = []
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


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def figure(value: float | None) -> str:
    """A figure to read: one decimal, – if it is undefined."""
    return "–" if value is None or math.isnan(value) else f"{value:.1f}"


def duration(seconds: float) -> str:
    """A time to read: `47 s`, `12 min`, `3 h 5 min`."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def chance(p: float) -> str:
    """A probability to read: `0.0312`, `<0.0001`."""
    return "<0.0001" if p < 0.00005 else f"{p:.4f}"
