"""Arrays of items in a row: the neighbour of each item, runs of equal ones, parts that stand end to end, look-ups."""

from collections.abc import Iterable

import numpy as np


def next_of(values: np.ndarray, after_last: object) -> np.ndarray:
    """The value after each one (N,): `after_last` after the last one."""
    return np.append(values[1:], np.full(len(values[:1]), after_last))


def previous_of(values: np.ndarray, before_first: object) -> np.ndarray:
    """The value before each one (N,): `before_first` before the first one."""
    return np.append(np.full(len(values[:1]), before_first), values[:-1])


def starts_of_runs(*columns: np.ndarray) -> np.ndarray:
    """Whether a run of items that are equal in all columns begins at each item, bool (N,); columns are (N,)."""
    starts = np.zeros(len(columns[0]), bool)
    starts[:1] = True
    for column in columns:
        starts[1:] |= column[1:] != column[:-1]
    return starts


def ends_of_runs(*columns: np.ndarray) -> np.ndarray:
    """Whether a run of items that are equal in all columns ends at each item, bool (N,); columns are (N,)."""
    return next_of(starts_of_runs(*columns), True)


def bounds_of(lengths: Iterable[int] | np.ndarray) -> np.ndarray:
    """Where parts of some lengths, end to end, begin and end, int64 (N + 1,): part i is [bounds[i], bounds[i + 1])."""
    lengths = lengths if isinstance(lengths, np.ndarray) else np.array(list(lengths), np.int64)
    return np.append(np.int64(0), np.cumsum(lengths, dtype=np.int64))


def ranges(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The numbers of all ranges [start, start + length), end to end, int64."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum())


def find_sorted(table: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """The index of each key in a sorted table, int64; −1 for a key that is missing."""
    if not len(table):
        return np.full(keys.shape, -1)
    indices = np.searchsorted(table, keys).clip(max=len(table) - 1)
    return np.where(table[indices] == keys, indices, -1)
