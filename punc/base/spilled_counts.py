"""Counts of words of which there are too many for memory: an external merge sort (Knuth 1998, section 5.4)."""

import heapq
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import IO

import numpy as np

READ = 1 << 12  # bytes of a run that are read at once
SPARE = 1000  # words more than wanted, at least, that are kept while the most frequent ones are found


class SpilledCounts:
    """How often each word occurs. Counts are exact, and memory does not grow with the number of different words.

    limit   when there are more different words in memory than this, they go to a temporary file, sorted: a run

    Words are bytes without blanks and newlines. The file takes about 10 bytes for each word of a run.
    """

    def __init__(self, limit: int):
        self._limit = limit
        self._counts: Counter[bytes] = Counter()
        self._file: IO[bytes] | None = None
        self._runs: list[tuple[int, int]] = []  # the offsets in the file where each begins and ends

    def add(self, counts: Mapping[bytes, int]) -> None:
        """Add some counts."""
        self._counts.update(counts)
        if len(self._counts) > self._limit:
            self._spill()

    def _spill(self) -> None:
        """Write the counts in memory to the file, as a run."""
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as the counts)
        begin = self._file.tell()
        self._file.writelines(b"%b %d\n" % pair for pair in sorted(self._counts.items()))
        self._file.flush()
        self._runs.append((begin, self._file.tell()))
        self._counts.clear()

    def items(self) -> Iterator[tuple[bytes, int]]:
        """The words in C order, each with its count."""
        runs = [self._read(begin, end) for begin, end in self._runs]
        for word, pairs in groupby(heapq.merge(*runs, sorted(self._counts.items())), itemgetter(0)):
            yield word, sum(map(itemgetter(1), pairs))

    def _read(self, begin: int, end: int) -> Iterator[tuple[bytes, int]]:
        """The pairs of a run."""
        assert self._file is not None, "it has the run"
        rest = b""
        while begin < end:
            block = os.pread(self._file.fileno(), min(READ, end - begin), begin)
            begin += len(block)
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                word, _, count = line.partition(b" ")
                yield word, int(count)

    def most_frequent(self, size: int, wanted: Callable[[bytes], bool]) -> dict[bytes, int]:
        """The `size` most frequent words that are wanted; of words with the same count the first in C order."""
        kept: dict[bytes, int] = {}
        floor = 0  # `size` words are known that occur so often or more often
        for word, count in self.items():
            if count > floor and wanted(word):
                kept[word] = count
                if len(kept) >= size + size // 8 + SPARE:  # seldom: it takes time; and not many: it takes memory
                    kept, floor = _most_frequent(kept, size)
        return _most_frequent(kept, size)[0]


def _most_frequent(counts: dict[bytes, int], size: int) -> tuple[dict[bytes, int], int]:
    """The `size` most frequent words, the first ones of those with the same count; and the smallest count."""
    if len(counts) <= size:
        return counts, 0
    numbers = np.fromiter(counts.values(), np.int64, len(counts))
    floor = int(np.partition(numbers, -size)[-size])
    ties = size - int((numbers > floor).sum())
    chosen = (numbers > floor) | ((numbers == floor) & (np.cumsum(numbers == floor) <= ties))
    return {word: count for (word, count), keep in zip(counts.items(), chosen.tolist()) if keep}, floor
