"""Errors that fit into their sentence: a recogniser's language model lets others hardly pass.

A wrong word is drawn several times, and the draw is taken that makes the most pairs with the words beside it which the
text has elsewhere. Which words are wrong and which are deleted is left as it was drawn first.
"""

import numpy as np

from punc.noise.table import NoiseTable

BITS = 1 << 27  # of the pairs, 16 MiB; with 10 million different ones, one in 14 others is taken for seen


class Fluency:
    """The pairs of words that follow each other in a text, by their hashes; memory does not grow with the text.

    draws   how often a wrong word is drawn, at least 1
    """

    def __init__(self, draws: int):
        self._draws, self._bits = draws, np.zeros(BITS // 8, np.uint8)

    def add(self, words: np.ndarray, first: np.ndarray) -> None:
        """Add the pairs of a text.

        words   int64 (n,): types; 0, an unknown word, makes no pairs
        first   bool (n,): whether a stream begins here
        """
        left, right = words[:-1], words[1:]
        pairs = (left > 0) & (right > 0) & ~first[1:]
        places = _places(left[pairs], right[pairs])
        np.bitwise_or.at(self._bits, places >> 3, _bit(places))

    def seen(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Whether the right word has followed the left one in the text, bool; few are true by chance."""
        places = _places(left, right)
        return (left > 0) & (right > 0) & (self._bits[places >> 3] & _bit(places) > 0)

    def draw(self, table: NoiseTable, words: np.ndarray, first: np.ndarray, wrong: np.ndarray,
             rng: np.random.Generator) -> np.ndarray:
        """What stands in the place of the words `wrong`, int64: sequences of the table.

        words, first   the text, as in `add`
        wrong          int64: indices of words
        """
        n, deletion = len(words), len(table.errors)
        left = np.where(first[wrong], 0, words[wrong - 1])
        after = np.minimum(wrong + 1, n - 1)
        right = np.where((wrong == n - 1) | first[after], 0, words[after])
        found = table.draw(words[wrong], rng)
        best = self._fit(table, found, left, right)
        best[found == deletion] = 2  # as good as can be
        for _ in range(self._draws - 1):
            other = table.draw(words[wrong], rng)
            fit = np.where(other == deletion, -1, self._fit(table, other, left, right))
            found, best = np.where(fit > best, other, found), np.maximum(fit, best)
        return found

    def _fit(self, table: NoiseTable, sequences: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """How many pairs with the words beside them are seen, int64 from 0 to 2; of no words, whatever."""
        last = table.ends[sequences] - 1
        begin = last + 1 - np.maximum(table.lengths[sequences], 1)
        return self.seen(left, table.words[begin]).astype(np.int64) + self.seen(table.words[last], right)


def _places(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The bits of pairs, int64."""
    mixed = left.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + right.astype(np.uint64)
    mixed ^= mixed >> np.uint64(31)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(29)
    return (mixed % np.uint64(BITS)).astype(np.int64)


def _bit(places: np.ndarray) -> np.ndarray:
    """The bit of each place in its byte, uint8."""
    return (1 << (places & 7)).astype(np.uint8)
