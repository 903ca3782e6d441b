"""Errors drawn for a text: words wrong, deleted and inserted, and the labels and pauses of the words that are left.

All is arrays; there is no Python step for a word.
"""

from typing import NamedTuple

import numpy as np

from punc.noise.fluency import Fluency
from punc.noise.table import NoiseTable
from punc.timing.align import Alignment, align_streams

PART = 1024  # reference words that are aligned at once, about


class Drawn(NamedTuple):
    """A text with errors: N words, of a reference with n words.

    words    int64 (N,): types, as in the table
    source   int64 (N,): the reference word that each stands for, or after which it is inserted
    kept     bool (n,): whether the reference word is there, as it was
    spoken   bool (N,): whether the word is the last one that stands for its reference word, so its pause follows it
    """

    words: np.ndarray
    source: np.ndarray
    kept: np.ndarray
    spoken: np.ndarray

    @property
    def deleted(self) -> int:
        """How many reference words nothing stands for."""
        return len(self.kept) - int(self.spoken.sum())

    @property
    def inserted(self) -> int:
        """How many words there are besides one for each reference word that is not deleted."""
        return len(self.words) - int(self.spoken.sum())


def draw(table: NoiseTable, words: np.ndarray, marks: np.ndarray, first: np.ndarray, rng: np.random.Generator,
         clean: np.ndarray | None = None, fluency: Fluency | None = None) -> Drawn:
    """Errors for the words of a text.

    words   int64 (n,): types
    marks   bool (n,): whether a mark follows
    first   bool (n,): whether a stream begins here; words before it do not count, and it is not deleted
    clean   bool (n,): where there are no errors; None: nowhere
    fluency how wrong words fit between the words beside them; None: they are drawn alone
    """
    n = len(words)
    wrong = rng.random(n) < table.errors[words]
    copied = (rng.random(n) < table.burst) & ~first
    if n:
        copied[0] = False
    wrong = wrong[np.maximum.accumulate(np.where(copied, 0, np.arange(n)))]
    if clean is not None:
        wrong &= ~clean
    sequences, deletion = np.stack([words, np.full(n, len(table.errors))], 1), len(table.errors)
    replaced = np.flatnonzero(wrong)
    found = fluency.draw(table, words, first, replaced, rng) if fluency else table.draw(words[replaced], rng)
    allowed = ~(first[replaced] & (found == deletion))
    wrong[replaced[~allowed]] = False
    sequences[replaced[allowed], 0] = found[allowed]
    correct = ~wrong & ~np.append(wrong[1:], True) & ~np.append(first[1:], True)
    if clean is not None:
        correct &= ~clean
    places = np.flatnonzero((rng.random(n) < table.inserted[marks.astype(np.int64)]) & correct)
    sequences[places, 1] = table.insertions.draw(marks[places].astype(np.int64), rng)
    lengths = table.lengths[sequences]
    output = table.words[spread(table.ends[sequences.ravel()] - lengths.ravel(), lengths.ravel())]
    spoken = np.zeros(len(output), bool)
    ends = np.cumsum(lengths.sum(1))
    spoken[(ends - lengths[:, 1] - 1)[lengths[:, 0] > 0]] = True
    return Drawn(output, np.repeat(np.arange(n), lengths.sum(1)), ~wrong, spoken)


def spread(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The indices start, start + 1 … of stretches of these lengths, end to end."""
    offsets = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) + np.repeat(starts - offsets, lengths)


def align_drawn(words: np.ndarray, first: np.ndarray, drawn: Drawn) -> Alignment:
    """The text aligned with the one that has errors, by the rules of `timing.align`.

    It is cut at the begin of streams, and between words that are both correct, as in long streams all alignments of
    minimum distance go through some of these; so time is linear.
    """
    ends = np.cumsum(np.bincount(drawn.source, minlength=len(words)))
    cuts = np.append(np.flatnonzero(first[1:]) + 1, len(words))
    single = np.diff(ends, prepend=0) == 1
    quiet = drawn.kept & single
    calm = np.flatnonzero(quiet[:-1] & quiet[1:]) + 1  # a part begins at one of these
    wanted = np.searchsorted(calm, np.arange(PART, len(words), PART))
    cuts = np.union1d(cuts, calm[wanted[wanted < len(calm)]])
    return align_streams(words, drawn.words, cuts.tolist(), ends[cuts - 1].tolist())


def drawn_pauses(pauses: np.ndarray, drawn: Drawn) -> np.ndarray:
    """The pauses after the words of a text with errors, float32 (N,); NaN unknown.

    A wrong word has the pause of the word that it stands for; of several, the last one has. The pause of a deleted word
    is added to that of the word before, so both are one, without the word's own duration, which nobody knows. Words in
    a slot cut its pause in an unknown place.
    """
    last = np.cumsum(np.bincount(drawn.source, minlength=len(pauses))) - 1  # the last word that was there by each slot
    found = np.full(len(drawn.words), np.nan, np.float32)
    heard = last >= 0
    ends = last[heard]
    found[ends[drawn.spoken[ends]]] = 0
    np.add.at(found, ends, pauses[heard])
    return found
