"""Work that jobs share: each takes a share of the streams, in order; what they write is joined after."""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from punc.base.errors import InputError
from punc.base.files import open_input, read_blocks

T = TypeVar("T")


def check_job(job: int, jobs: int, option: str) -> None:
    """Raise InputError unless `job` is one of `jobs` jobs; `option` gives their number."""
    if not 1 <= job <= jobs:
        raise InputError(f"--job={job} is not one of {option}={jobs} jobs", f"give a number from 1 to {option}")


def share(items: Iterable[T], size: Callable[[T], int], total: int, job: int, jobs: int,
          streams: Callable[[T], tuple[str, str]] | None = None) -> Iterator[T]:
    """The items of a job, counted from 1, out of `jobs`: jobs take them in order, about equally many words each.

    size     item → its words
    total    words of all items; if that is not exact, the shares are less equal
    streams  item → its first and its last stream; an item that continues a stream has the job of the item before
    """
    before, of, last = 0, 1, None
    for item in items:
        words = size(item)
        first, end = streams(item) if streams else (None, None)
        if first is None or first != last:
            of = 1 + min(jobs - 1, int(jobs * (before + words / 2) / max(total, 1)))
        if of > job:
            return
        if of == job:
            yield item
        before, last = before + words, end


def count_blanks(path: str | os.PathLike) -> int:
    """The number of words in a `text`, fast: its blanks, because there is one before each word."""
    return sum(block.count(b" ") + block.count(b"\t") for block in read_blocks(path))


def concatenate(paths: Sequence[Path], out: Path) -> None:
    """Write files one after another to the file `out`. Raises InputError if one is missing."""
    with open(out, "wb") as file:
        for path in paths:
            with open_input(path) as source:
                shutil.copyfileobj(source, file, 1 << 20)
