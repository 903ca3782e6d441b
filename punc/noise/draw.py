"""Draws word substitutions, deletions and insertions for a text or a data directory, and computes the resulting pauses.

With a `Fluency`, replacements fit into their sentences, as if a recogniser's language model had chosen them: several
replacements are drawn for each wrong word, and the one that forms the most known word pairs with the neighbouring words
is used. A word pair is known if it occurs in the original text. The first draw decides whether a word is deleted.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from punc.base.errors import StrPath
from punc.base.runs import bounds_of, next_of, ranges
from punc.data.datadir import DataDir, Utterance, label_numbers, write_data_dir
from punc.data.labels import LabelSet
from punc.noise.confusions import Confusions
from punc.noise.table import NoiseTable, make_table
from punc.scoring.project import Projection, project_stream
from punc.timing.align import Alignment, align_streams

PART = 1024  # the approximate number of reference words that are aligned at once
BITS = 1 << 27  # bits in the hash table of pairs (16 MiB); with 10 million pairs, 1 in 14 unseen pairs counts as seen


class Drawn(NamedTuple):
    """A text of N words with errors, drawn for a reference of n words."""

    words: np.ndarray  # int64 (N,): types (see noise.table)
    source: np.ndarray  # int64 (N,): index of the reference word that a word stands for, or after which it is inserted
    kept: np.ndarray  # bool (n,): whether the reference word is unchanged
    # bool (N,): whether a word is the last one for its reference word; it gets the pause after the reference word
    spoken: np.ndarray

    @property
    def deleted(self) -> int:
        return len(self.kept) - int(self.spoken.sum())

    @property
    def inserted(self) -> int:
        """The number of inserted words, including surplus words if several words replace a reference word."""
        return len(self.words) - int(self.spoken.sum())


class Fluency:
    """Draws `draws` replacements for each wrong word, and chooses the one that forms the most known word pairs with the
    neighbouring words. Pairs are known if they occur in a text that was added with `add`."""

    def __init__(self, draws: int):
        self._draws, self._bits = draws, np.zeros(BITS // 8, np.uint8)

    def add(self, words: np.ndarray, first: np.ndarray) -> None:
        """Add the word pairs of a text. `words`, int64 (n,): the types of its words. `first`, bool (n,): whether a
        stream begins with the word."""
        left, right = words[:-1], words[1:]
        pairs = (left > 0) & (right > 0) & ~first[1:]
        places = _places(left[pairs], right[pairs])
        np.bitwise_or.at(self._bits, places >> 3, _bit(places))

    def seen(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return for each pair whether it occurs in an added text, bool. Because of hash collisions, a few unseen pairs
        are reported as seen. Pairs with an unknown word count as unseen."""
        places = _places(left, right)
        return (left > 0) & (right > 0) & (self._bits[places >> 3] & _bit(places) > 0)

    def draw(self, table: NoiseTable, words: np.ndarray, first: np.ndarray, wrong: np.ndarray,
             rng: np.random.Generator) -> np.ndarray:
        """Draw replacements for the words with the indices `wrong`. Returns sequences (see noise.table), int64."""
        n, deletion = len(words), len(table.errors)
        left = np.where(first[wrong], 0, words[wrong - 1])
        after = np.minimum(wrong + 1, n - 1)
        right = np.where((wrong == n - 1) | first[after], 0, words[after])
        found = table.draw(words[wrong], rng)
        best = self._fit(table, found, left, right)
        best[found == deletion] = 2  # the best possible fit, so that the word stays deleted
        for _ in range(self._draws - 1):
            other = table.draw(words[wrong], rng)
            fit = np.where(other == deletion, -1, self._fit(table, other, left, right))
            found = np.where(fit > best, other, found)
            best = np.maximum(fit, best)
        return found

    def _fit(self, table: NoiseTable, sequences: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return for each sequence how many of its two pairs with the neighbouring words are known. For a deletion, the
        number has no meaning."""
        last = table.ends[sequences] - 1
        begin = last + 1 - np.maximum(table.lengths[sequences], 1)
        return self.seen(left, table.words[begin]).astype(np.int64) + self.seen(table.words[last], right)


def _places(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    mixed = left.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + right.astype(np.uint64)
    mixed ^= mixed >> np.uint64(31)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(29)
    return (mixed % np.uint64(BITS)).astype(np.int64)


def _bit(places: np.ndarray) -> np.ndarray:
    return (1 << (places & 7)).astype(np.uint8)


def draw(table: NoiseTable, words: np.ndarray, marks: np.ndarray, first: np.ndarray, rng: np.random.Generator,
         clean: np.ndarray | None = None, fluency: Fluency | None = None) -> Drawn:
    """Draw errors for the words of a text.

    words   int64 (n,): the type of each word
    marks   bool (n,): whether a mark follows the word
    first   bool (n,): whether a stream begins with the word. Such a word does not depend on earlier errors, and
            is never deleted
    clean   bool (n,): whether the word must have no error; None: all words may have errors
    """
    n = len(words)
    wrong = rng.random(n) < table.errors[words]
    copied = (rng.random(n) < table.burst) & ~first
    if n:
        copied[0] = False
    wrong = wrong[np.maximum.accumulate(np.where(copied, 0, np.arange(n)))]
    if clean is not None:
        wrong &= ~clean
    deletion = len(table.errors)
    sequences = np.stack([words, np.full(n, deletion)], 1)  # for each word: its replacement, and the insertion after it
    replaced = np.flatnonzero(wrong)
    found = fluency.draw(table, words, first, replaced, rng) if fluency else table.draw(words[replaced], rng)
    allowed = ~(first[replaced] & (found == deletion))
    wrong[replaced[~allowed]] = False
    sequences[replaced[allowed], 0] = found[allowed]
    correct = ~wrong & ~next_of(wrong, True) & ~next_of(first, True)
    if clean is not None:
        correct &= ~clean
    places = np.flatnonzero((rng.random(n) < table.inserted[marks.astype(np.int64)]) & correct)
    sequences[places, 1] = table.insertions.draw(marks[places].astype(np.int64), rng)
    lengths = table.lengths[sequences]
    output = table.words[ranges(table.ends[sequences.ravel()] - lengths.ravel(), lengths.ravel())]
    spoken = np.zeros(len(output), bool)
    ends = np.cumsum(lengths.sum(1))
    spoken[(ends - lengths[:, 1] - 1)[lengths[:, 0] > 0]] = True
    return Drawn(output, np.repeat(np.arange(n), lengths.sum(1)), ~wrong, spoken)


def align_drawn(words: np.ndarray, first: np.ndarray, drawn: Drawn) -> Alignment:
    """Align a text with `drawn`, its version with errors, by the rules of `timing.align`. This takes linear time,
    because both texts are cut at the start of streams and between two correct words. The cuts seldom change the best
    alignment."""
    ends = np.cumsum(np.bincount(drawn.source, minlength=len(words)))
    cuts = np.append(np.flatnonzero(first[1:]) + 1, len(words))
    single = np.diff(ends, prepend=0) == 1
    quiet = drawn.kept & single
    calm = np.flatnonzero(quiet[:-1] & quiet[1:]) + 1  # a part may begin at any of these words
    wanted = np.searchsorted(calm, np.arange(PART, len(words), PART))
    cuts = np.union1d(cuts, calm[wanted[wanted < len(calm)]])
    return align_streams(words, drawn.words, cuts.tolist(), ends[cuts - 1].tolist())


def drawn_pauses(pauses: np.ndarray, drawn: Drawn) -> np.ndarray:
    """Return the pauses of a text with errors, float32 (N,). NaN: unknown, for example next to inserted words.

    The pause after a reference word goes to the word drawn for it or, if there are several, to the last of them. The
    pause after a deleted word is added to the pause before the deleted word, whose duration is unknown and not added.
    """
    # The index of the last drawn word before each slot of the reference.
    last = np.cumsum(np.bincount(drawn.source, minlength=len(pauses))) - 1
    found = np.full(len(drawn.words), np.nan, np.float32)
    heard = last >= 0
    ends = last[heard]
    found[ends[drawn.spoken[ends]]] = 0
    np.add.at(found, ends, pauses[heard])
    return found


def corrupt(data_dir: StrPath, out_dir: StrPath, confusions: Confusions, labels: LabelSet,
            wer: float, seed: int = 1, draws: int = 1) -> tuple[Projection, int, int]:
    """Copy a data directory to `out_dir`, with drawn errors. Labels are projected as in `punc project`.

    Only one stream is in memory at a time. Returns the counts of the projection, and the numbers of deleted and
    inserted words. Raises InputError if labels are missing or unknown, or if the confusions cannot reach the word error
    rate `wer`.
    """
    data = DataDir(data_dir, needs=["punct"])
    words: Counter[str] = Counter()
    marks = 0
    for _, stream in data.streams():
        words.update(word for utterance in stream for word in utterance.words)
        marks += int(_marks(stream, labels, data).sum())
    types = {word: number for number, word in enumerate(dict.fromkeys([*confusions.words, *sorted(words)]), 1)}
    names = ["", *types]
    counts = np.array([words[name] for name in names])
    table = make_table(confusions, types, words).at_wer(wer, counts, marks / max(words.total(), 1))
    fluency = Fluency(draws) if draws > 1 else None
    if fluency:
        for _, stream in data.streams():
            numbers = _types(stream, types)
            fluency.add(numbers, np.zeros(len(numbers), bool))
    sums = np.zeros(len(Projection._fields) + 2, np.int64)
    write_data_dir(out_dir, _utterances(data, table, types, names, labels, seed, sums, fluency), like=data)
    *projected, deleted, inserted = sums.tolist()
    return Projection(*projected), deleted, inserted


def _marks(stream: Sequence[Utterance], labels: LabelSet, data: DataDir) -> np.ndarray:
    return np.array([bool(label.mark) for label in labels])[label_numbers(stream, labels, data.path)]


def _types(stream: Sequence[Utterance], types: Mapping[str, int]) -> np.ndarray:
    return np.array([types[word] for utterance in stream for word in utterance.words], np.int64)


def _utterances(data: DataDir, table: NoiseTable, types: Mapping[str, int], names: Sequence[str], labels: LabelSet,
                seed: int, sums: np.ndarray, fluency: Fluency | None) -> Iterator[Utterance]:
    rng = np.random.default_rng(seed)
    for _, stream in data.streams():
        words = _types(stream, types)
        drawn = draw(table, words, _marks(stream, labels, data), np.arange(len(words)) == 0, rng, fluency=fluency)
        heard = _cut(stream, drawn, names)
        projected, counts = project_stream(stream, heard, labels, data.path)
        sums += (*counts, drawn.deleted, drawn.inserted)
        numbers = iter(projected.tolist())
        for utterance in heard:
            yield utterance._replace(labels=[labels.names[next(numbers)] for _ in utterance.words])


def _cut(stream: Sequence[Utterance], drawn: Drawn, names: Sequence[str]) -> list[Utterance]:
    bounds = bounds_of(len(utterance.words) for utterance in stream)
    places = np.searchsorted(drawn.source, bounds).tolist()
    pauses = None
    if stream[0].pauses is not None:
        known = [utterance.pauses for utterance in stream if utterance.pauses is not None]
        pauses = drawn_pauses(np.concatenate(known), drawn)
    return [utterance._replace(words=[names[word] for word in drawn.words[begin:end].tolist()], labels=None,
                               pauses=None if pauses is None else pauses[begin:end])
            for utterance, (begin, end) in zip(stream, pairwise(places))]
