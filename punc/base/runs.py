"""Functions on arrays: neighbouring values, runs of equal items, bounds of concatenated parts, and look-ups."""

from array import array
from collections.abc import Iterable

import numpy as np


def next_of(values: np.ndarray, after_last: object) -> np.ndarray:
    """Return for each value of an array (N,) the next value or, for the last value, `after_last`."""
    return np.append(values[1:], np.full(len(values[:1]), after_last))


def previous_of(values: np.ndarray, before_first: object) -> np.ndarray:
    """Return for each value of an array (N,) the previous value or, for the first value, `before_first`."""
    return np.append(np.full(len(values[:1]), before_first), values[:-1])


def starts_of_runs(*columns: np.ndarray) -> np.ndarray:
    """Mark the first item of each run of equal items, bool (N,). Item i consists of value i of each column (N,)."""
    starts = np.zeros(len(columns[0]), bool)
    starts[:1] = True
    for column in columns:
        starts[1:] |= column[1:] != column[:-1]
    return starts


def ends_of_runs(*columns: np.ndarray) -> np.ndarray:
    """Mark the last item of each run of equal items, bool (N,). Item i consists of value i of each column (N,)."""
    return next_of(starts_of_runs(*columns), True)


def bounds_of(lengths: Iterable[int] | np.ndarray) -> np.ndarray:
    """Return the bounds of N concatenated parts, int64 (N + 1,). Part i is at [bounds[i], bounds[i + 1])."""
    lengths = lengths if isinstance(lengths, np.ndarray) else np.array(list(lengths), np.int64)
    return np.append(np.int64(0), np.cumsum(lengths, dtype=np.int64))


def ranges(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Concatenate the integer ranges [start, start + length), int64."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum())


def find_sorted(table: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Return the index of each key in a sorted table, int64. The index of a missing key is −1."""
    if not len(table):
        return np.full(keys.shape, -1)
    indices = np.searchsorted(table, keys).clip(max=len(table) - 1)
    return np.where(table[indices] == keys, indices, -1)


class IdTable:
    """Maps ids to rows of `width` float64 numbers. Ids are stored as 64-bit hashes, so a row takes 24 + 8 `width` bytes
    however long its id is. Two ids with the same hash would share their rows, which is unlikely even among 10 million
    ids."""

    def __init__(self, width: int):
        self._hashes, self._numbers, self._width = array("q"), array("d"), width
        self._index: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def add(self, id: str, *numbers: float) -> None:
        """Add a row for an id. An id may have several rows. All rows must be added before the first look-up."""
        self._hashes.append(hash(id))
        self._numbers.extend(numbers)

    def rows(self, id: str) -> np.ndarray:
        """Return the rows of an id in the order in which they were added, float64 (rows, width). An unknown id has
        no rows."""
        hashes, order, table = self._sorted()
        first = np.searchsorted(hashes, hash(id))
        last = np.searchsorted(hashes, hash(id), "right")
        return table[order[first:last]]

    def __contains__(self, id: str) -> bool:
        return len(self.rows(id)) > 0

    def counts(self) -> np.ndarray:
        """Return the number of rows of each id, in no particular order."""
        return np.unique(self._sorted()[0], return_counts=True)[1]

    def _sorted(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if self._index is None:
            hashes = np.frombuffer(self._hashes, np.int64) if len(self._hashes) else np.zeros(0, np.int64)
            numbers = np.frombuffer(self._numbers, np.float64) if len(self._numbers) else np.zeros(0)
            order = np.argsort(hashes, kind="stable")
            self._index = hashes[order], order, numbers.reshape(-1, self._width)
        return self._index
