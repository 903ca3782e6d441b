"""Tables of text and numbers with a header and tabs between columns."""

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
