"""Reads text corpora as lines with document numbers. `#doc` and `#speaker` lines are optional."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from punc.base.errors import InputError
from punc.base.files import decode_line, open_input

LINES = 50  # a file that does not begin with `#doc` is cut into documents of this many lines


def lines(paths: Iterable[Path]) -> Iterator[tuple[int, str]]:
    """Yield each line of the files, except `#speaker` lines, with the number of its document. Numbers start at 1 and
    continue across files.

    A file whose first line does not begin with `#doc` is cut into documents of LINES lines, and a line `#doc` is
    yielded before each document. Raises InputError if such a file contains a `#doc` line.
    """
    number = 0
    for path in paths:
        with open_input(path) as file:
            for at, raw in enumerate(file, 1):
                line = decode_line(raw, path, at)
                begins = line.startswith("#doc")
                if at == 1:
                    cut = not begins
                elif cut and begins:
                    raise InputError("text before the first #doc line", "get the file again", path, at)
                if cut and at % LINES == 1:
                    number += 1
                    yield number, "#doc"
                number += begins
                if not line.startswith("#speaker"):
                    yield number, line
