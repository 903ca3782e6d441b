"""Where words stand in bytes: all that blanks separate, found for a whole file at once."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

BATCH = 1 << 16  # places that are compared at a time
BLANK = np.zeros(256, bool)
BLANK[list(b" \t\n\r\f\v")] = True


class WordPlaces(NamedTuple):
    """W words, in order.

    starts, stops  int64 (W,): bytes
    joined         bool (W,): only bytes to leave out, as markup, separate the word from the one before
    ranges         int64 (W,): which of the ranges has the word
    """

    starts: np.ndarray
    stops: np.ndarray
    joined: np.ndarray
    ranges: np.ndarray


def no_words() -> WordPlaces:
    """No words."""
    none = np.zeros(0, np.int64)
    return WordPlaces(none, none, np.zeros(0, bool), none)


def word_places(data: bytes, begins: np.ndarray, ends: np.ndarray,
                left_out: Iterable[tuple[int, int]] = ()) -> WordPlaces:
    """The words in the ranges [begins, ends) of some bytes.

    begins, ends  int64 (R,), ascending; ranges do not overlap
    left_out      stretches of bytes that are no words: they end a word, as blanks do
    """
    array = np.frombuffer(data, np.uint8)
    word = np.zeros(len(array) + 2, bool)  # with a blank at both ends
    bounds = np.append(np.stack([begins, ends], 1), len(array))
    inside = np.repeat(np.arange(len(bounds)) % 2 == 1, np.diff(bounds, prepend=0))
    np.logical_and(inside, ~BLANK[array], out=word[1:-1])
    del inside
    between: set[int] = set()  # where stretches end
    for start, stop in left_out:
        word[1 + start:1 + stop] = False
        between.add(stop)
    edges = np.flatnonzero(word[1:] != word[:-1])
    starts, stops = edges[::2], edges[1::2]
    # Two ranges with no byte between them are two words; of those that begin at one byte, all but the last are empty.
    inner = np.unique(begins[(begins > 0) & (begins < len(array))])
    inner = inner[word[inner + 1] & word[inner]]
    if len(inner):
        starts, stops = np.sort(np.append(starts, inner)), np.sort(np.append(stops, inner))
    ranges = np.searchsorted(begins, starts, "right") - 1
    joined = np.zeros(len(starts), bool)
    if between:
        ending = np.fromiter(between, np.int64, len(between))
        for i in np.flatnonzero(np.isin(starts, ending)).tolist():
            gap = data[stops[i - 1]:starts[i]] if i and ranges[i] == ranges[i - 1] else b" "
            joined[i] = not gap or not BLANK[np.frombuffer(gap, np.uint8)].any() or _blank_in_markup(gap)
    return WordPlaces(starts, stops, joined, ranges)


def same_bytes(data: bytes, starts: np.ndarray, stops: np.ndarray, other_starts: np.ndarray,
               other_stops: np.ndarray) -> bool:
    """Whether places [start, stop), ascending, have the bytes of as many other places, one by one."""
    sizes = stops - starts
    if not np.array_equal(sizes, other_stops - other_starts):
        return False
    array = np.frombuffer(data, np.uint8)
    for low in range(0, len(sizes), BATCH):
        part = slice(low, low + BATCH)
        counts = sizes[part]
        offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        this, other = (array[np.repeat(begins[part], counts) + offsets] for begins in (starts, other_starts))
        if not np.array_equal(this, other):
            return False
    return True


def _blank_in_markup(gap: bytes) -> bool:
    """Whether all blanks of a gap are inside of angle brackets, as in `<font color=red>`."""
    depth = 0
    for byte in gap:
        depth += (byte == ord("<")) - (byte == ord(">"))
        if BLANK[byte] and not depth:
            return False
    return True
