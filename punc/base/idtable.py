"""Numbers by id, for corpora with more utterances than a dictionary of them has room for."""

from array import array

import numpy as np


class IdTable:
    """Rows of `width` numbers under ids: 24 bytes a row and 8 a number, where a dictionary takes several hundred.

    Ids are kept as 64-bit hashes. Of 10 million ids, two have the same one with a probability of 3 in a million; then
    each has the rows of both. Numbers are float64, so byte offsets are exact up to 2^53.
    """

    def __init__(self, width: int):
        self._hashes, self._numbers, self._width = array("q"), array("d"), width
        self._order = self._sorted = self._table = None

    def add(self, id: str, *numbers: float) -> None:
        """Add a row; an id may have several. Not after a look-up."""
        self._hashes.append(hash(id))
        self._numbers.extend(numbers)

    def rows(self, id: str) -> np.ndarray:
        """The rows of an id in the order they were added, float64 (rows, width); none for an unknown id."""
        if self._order is None:
            self._sort()
        first, last = np.searchsorted(self._sorted, hash(id)), np.searchsorted(self._sorted, hash(id), "right")
        return self._table[self._order[first:last]]

    def __contains__(self, id: str) -> bool:
        return len(self.rows(id)) > 0

    def counts(self) -> np.ndarray:
        """How many rows each id has, in no particular order."""
        if self._order is None:
            self._sort()
        return np.unique(self._sorted, return_counts=True)[1]

    def _sort(self) -> None:
        hashes = np.frombuffer(self._hashes, np.int64) if len(self._hashes) else np.zeros(0, np.int64)
        self._table = np.frombuffer(self._numbers, np.float64) if len(self._numbers) else np.zeros(0)
        self._table = self._table.reshape(-1, self._width)
        self._order = np.argsort(hashes, kind="stable")
        self._sorted = hashes[self._order]
