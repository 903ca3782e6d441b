"""Words of JSON as arrays: what would be a dictionary for each word takes ten times as much memory."""

from array import array
from collections.abc import Sequence
from itertools import chain, repeat
from operator import itemgetter
from typing import Any

import numpy as np

from punc.data.datadir import LATEST

BATCH = 1 << 14  # words whose values are kept as objects


class WordList:
    """Words one after another.

    bounds    the bytes of their strings, without quotes: begin and end of each in turn
    counts    for each call of `add`, the segment and how many words it has
    speakers  as JSON has them, None where they are missing; empty if the file names none
    wrong     the first word with a value that is no number, and the value
    """

    def __init__(self, confidence: str, speakers: bool) -> None:
        self._keys = ("start", "end", confidence)
        self._values, self._has_speakers = itemgetter(*self._keys), speakers
        self.bounds = array("q")
        self.counts: list[tuple[int, int]] = []
        self.speakers: list[Any] = []
        self.wrong: tuple[int, str] | None = None
        self._rows: list[tuple[Any, ...]] = []
        self._columns: list[np.ndarray] = []

    def __len__(self) -> int:
        return len(self.bounds) // 2

    def add(self, words: Sequence[dict[str, Any]], spans: Sequence[tuple[int, int]], counts: Sequence[tuple[int, int]],
            speakers: Sequence[Any]) -> None:
        """Add words and the spans of their strings; segments with how many words each has, and its speaker."""
        before = len(self._rows)
        try:
            self._rows += map(self._values, words)
        except KeyError:  # some were added
            self._rows[before:] = [tuple(map(word.get, self._keys)) for word in words]
        self.bounds.extend(chain.from_iterable(spans))
        self.counts += counts
        if self._has_speakers:
            of_words = chain.from_iterable(repeat(speaker, count) for speaker, (_, count) in zip(speakers, counts))
            self.speakers += [word.get("speaker", speaker) for word, speaker in zip(words, of_words)]
        if len(self._rows) > BATCH:
            self._pack()

    def spans(self) -> tuple[np.ndarray, np.ndarray]:
        """The begins and the ends of the strings, int64 (N,)."""
        bounds = np.array(self.bounds, np.int64)
        return bounds[::2], bounds[1::2]

    def segments(self) -> np.ndarray:
        """The segment of each word, int64 (N,)."""
        numbers, counts = np.array(self.counts, np.int64).reshape(-1, 2).T
        return np.repeat(numbers, counts)

    def numbers(self) -> np.ndarray:
        """Begins, ends and confidences, float64 (3, N), NaN where they are missing."""
        self._pack()
        return np.concatenate(self._columns).T if self._columns else np.zeros((3, 0))

    def _pack(self) -> None:
        """Make an array of the rows: it takes less memory."""
        try:
            numbers = self._numbers()
        except (TypeError, ValueError):
            bad = [[number is not None and type(number) not in (int, float) for number in row] for row in self._rows]
            at = next(i for i, row in enumerate(bad) if any(row))
            done = sum(map(len, self._columns))
            self.wrong = self.wrong or (done + at, repr(self._rows[at][bad[at].index(True)]))
            numbers = np.full((len(self._rows), 3), np.nan)
        numbers[~(np.abs(numbers) < LATEST)] = np.nan
        self._columns.append(numbers)
        self._rows.clear()

    def _numbers(self) -> np.ndarray:
        """The rows as numbers, (R, 3); None is NaN. Raises TypeError or ValueError if one is no number."""
        try:
            return np.fromiter(chain.from_iterable(self._rows), float, 3 * len(self._rows)).reshape(-1, 3)
        except OverflowError:
            rows = [[np.nan if type(number) is int and abs(number) > LATEST else number for number in row]
                    for row in self._rows]
            return np.array(rows, float).reshape(-1, 3)
