"""Counts of words that jobs make: a file of each job, and all of them read again, as if one job had counted.

    COUNTS/first   the words of the first block with their counts, one a line; every job has the same
    COUNTS/known   how often each of these occurs in the other blocks of the job's share
    COUNTS/others  the other words of each block with their counts, one a line; an empty line ends a block

The blocks are those of one job.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

import numpy as np

from punc.base.errors import InputError
from punc.base.files import open_input
from punc.base.jobs import Share
from punc.data.datadir import DataDir
from punc.tokens.vocabulary import add_up, count_blocks, first_counts


def write_word_counts(directory: Path, sets: Sequence[DataDir], nj: int, share: Share) -> None:
    """Count the words of a share of data directories."""
    first = first_counts(sets)
    numbers = np.zeros(len(first), np.int64)
    with open(directory / "first", "wb") as file:
        write_pairs(file, first)
    with open(directory / "others", "wb") as file:
        for known, others in count_blocks(sets, first, nj, share):
            numbers += known
            write_pairs(file, others)
            file.write(b"\n")
    (directory / "known").write_text("".join(f"{number}\n" for number in numbers.tolist()))


def read_word_counts(directories: Sequence[Path], size: int,
                     is_token: Callable[[bytes], bool]) -> dict[bytes, int]:
    """The counts of the words of all shares, as `count_words` returns them. Raises InputError for a broken file."""
    first = dict(read_pairs(directories[0] / "first"))

    def blocks() -> Iterator[tuple[np.ndarray, Counter[bytes]]]:
        for directory in directories:
            numbers = _numbers(directory / "known", len(first))
            yield numbers, Counter()
            others: Counter[bytes] = Counter()
            for word, number in read_pairs(directory / "others"):
                if word:
                    others[word] = number
                else:
                    yield np.zeros_like(numbers), others
                    others = Counter()

    return add_up(first, blocks(), size, is_token)


def write_pairs(file: IO[bytes], counts: dict[bytes, int]) -> None:
    """Write words and counts, one a line."""
    file.writelines(b"%b %d\n" % pair for pair in counts.items())


def read_pairs(path: Path) -> Iterator[tuple[bytes, int]]:
    """The words and counts of a file; an empty word and 0 for an empty line."""
    with open_input(path) as file:
        for number, line in enumerate(file, 1):
            word, _, count = line.rstrip(b"\n").partition(b" ")
            if line != b"\n" and not is_count(count):
                raise _broken(path, number)
            yield word, int(count or 0)


def _numbers(path: Path, size: int) -> np.ndarray:
    """The numbers of a file, int64 (size,)."""
    with open_input(path) as file:
        lines = file.read().split()
    if len(lines) != size or not all(map(is_count, lines)):
        raise _broken(path)
    return np.array(lines, np.int64)


def is_count(text: bytes) -> bool:
    """Whether a text is a whole number that fits an array."""
    return text.isdigit() and len(text) < 19


def _broken(path: Path, line: int | None = None) -> InputError:
    return InputError("not a count of words", "run its job again", path, line)
