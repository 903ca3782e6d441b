"""The documents of a corpus that has a `#doc` line before each, and `#speaker` lines."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from punc.base.errors import InputError
from punc.base.files import decode_line, open_input


def lines(paths: Iterable[Path]) -> Iterator[tuple[int, str]]:
    """The lines of files but for `#speaker` lines, each with its document's number, from 1, over all files.

    Raises InputError for text before the first document.
    """
    number = 0
    for path in paths:
        with open_input(path) as file:
            for at, raw in enumerate(file, 1):
                line = decode_line(raw, path, at)
                number += line.startswith("#doc")
                if not number:
                    raise InputError("text before the first #doc line", "get the file again", path, at)
                if not line.startswith("#speaker"):
                    yield number, line
