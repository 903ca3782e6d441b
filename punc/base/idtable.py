"""Numbers by id, for corpora whose utterances are too many for a dictionary in memory."""

from array import array

import numpy as np


class IdTable:
    """Rows of `width` numbers by id, float64. A row takes 24 bytes plus 8 per number; in a dictionary, hundreds.

    Ids are stored as 64-bit hashes. Among 10 million ids, two share a hash with a probability of 3 in a million; each
    then has the rows of both.
    """

    def __init__(self, width: int):
        self._hashes, self._numbers, self._width = array("q"), array("d"), width
        self._index: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def add(self, id: str, *numbers: float) -> None:
        """Add a row; an id may have several. All rows are added before the first look-up."""
        self._hashes.append(hash(id))
        self._numbers.extend(numbers)

    def rows(self, id: str) -> np.ndarray:
        """The rows of an id in the order they were added, float64 (rows, width); an unknown id has none."""
        hashes, order, table = self._sorted()
        first, last = np.searchsorted(hashes, hash(id)), np.searchsorted(hashes, hash(id), "right")
        return table[order[first:last]]

    def __contains__(self, id: str) -> bool:
        return len(self.rows(id)) > 0

    def counts(self) -> np.ndarray:
        """How many rows each id has, in no particular order."""
        return np.unique(self._sorted()[0], return_counts=True)[1]

    def _sorted(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The hashes in ascending order, the row of each, and all rows; sorted at the first look-up."""
        if self._index is None:
            hashes = np.frombuffer(self._hashes, np.int64) if len(self._hashes) else np.zeros(0, np.int64)
            numbers = np.frombuffer(self._numbers, np.float64) if len(self._numbers) else np.zeros(0)
            order = np.argsort(hashes, kind="stable")
            self._index = hashes[order], order, numbers.reshape(-1, self._width)
        return self._index
