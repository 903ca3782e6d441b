"""Estimates, from confusions, how likely each word of a text is to be wrong, and what replaces it.

Words are represented by numbers, their *types*. Type 0 stands for all unknown words. A *sequence* of words can replace
a word. Sequences also have numbers: a sequence that is a single word has the type of this word as its number.

Error rate: a word that was seen n times and was wrong e times is wrong with probability (e + K r) / (n + K). K is
PRIOR, and r is the error rate of all words in the same frequency band: n = 1, 2–3, 4–7, … Words that were never seen
have the rate r of words that were seen once.

Replacements: the replacements of a word are drawn in proportion to their counts. A word with fewer than ENOUGH errors
gets K additional counts. Deletions get K d of these counts, where d is the fraction of deletions among the errors of
all words in the frequency band. The remaining counts are divided among words that sound similar or, if there are none,
among the replacements of unknown words.

Similar sound: the recogniser is modelled as a noisy channel (Kernighan, Church & Gale 1990, "A Spelling Correction
Program Based on a Noisy Channel Model"). The probability that a word w is heard as the word v is proportional to
P(v) P(w → v). P(v) is the frequency of v in the ASR output. P(w → v) is the product of the probabilities of the edits
in the shortest sequence of character edits that changes w to v. The probabilities of edits are estimated from the pairs
of words that the recogniser confused. Each pair counts once, and only if the edits are at most half as many as the
characters of the longer word.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from punc.base.errors import InputError
from punc.noise.confusions import PLACES, Confusions

PRIOR = 5.0  # K in the module docstring
ENOUGH = 50  # a word with at least this many errors gets no additional counts
HIGHEST = 0.9  # the maximum probability that a word is wrong, or that words are inserted into a slot
RARE = 1  # the frequency band of words that were seen once or never
MOST = 16  # the maximum number of other words that a word can be heard as
ALIKE = 0.5  # the maximum distance between two words whose edits are counted, in edits per character of the longer word
BLOCK = 256  # the number of words that are compared with the words of the ASR output at a time
UNSEEN = 0.1  # added to the count of each edit, so that no edit is impossible
SAME_AS_UNKNOWN = -1  # an outcome that is replaced by a draw from the replacements of the unknown type


class Choices:
    """Draws outcomes, which are numbers, from the rows of a table with `size` rows. For each i, the row rows[i]
    contains outcomes[i] with the weight weights[i]. A row without outcomes gets the outcome `other`."""

    def __init__(self, rows: np.ndarray, outcomes: np.ndarray, weights: np.ndarray, size: int, other: int):
        missing = np.setdiff1d(np.arange(size), rows)
        rows = np.concatenate([rows, missing])
        outcomes = np.concatenate([outcomes, np.full(len(missing), other)])
        weights = np.concatenate([weights, np.ones(len(missing))])
        order = np.argsort(rows, kind="stable")
        self.rows, self.outcomes, self.weights = rows[order], outcomes[order], weights[order]
        self.weights /= np.bincount(self.rows, self.weights, size)[self.rows]
        self._first = np.searchsorted(self.rows, np.arange(size))
        self._last = np.searchsorted(self.rows, np.arange(size), "right") - 1
        whole = np.cumsum(self.weights)
        before = np.concatenate([[0], whole])[self._first]  # the sum of all weights before each row
        self._ends = whole - before[self.rows] + self.rows

    def draw(self, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw an outcome from each of `rows`, int64."""
        found = np.searchsorted(self._ends, rows + rng.random(len(rows)), "right")
        # Without `clip`, rounding could lead to another row.
        return self.outcomes[np.clip(found, self._first[rows], self._last[rows])]

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Return the expected value of a draw from each row, float64. The outcome k has the value values[k]."""
        return np.bincount(self.rows, self.weights * values[self.outcomes], len(self._last))


@dataclass(frozen=True)
class NoiseTable:
    errors: np.ndarray  # float64 (types,): the probability that a word of each type is wrong
    replacements: Choices  # the sequences that can replace each type
    inserted: np.ndarray  # float64 (2,): the probabilities of an insertion in slots without a mark and with a mark
    insertions: Choices  # the sequences that can be inserted into slots without a mark and with a mark
    burst: float  # the probability that a word copies the previous word's state (wrong or correct)
    words: np.ndarray  # int64: the concatenated types of all sequences
    ends: np.ndarray  # int64: the end of each sequence in `words`

    @property
    def lengths(self) -> np.ndarray:
        """The number of words in each sequence, int64 (sequences,)."""
        return np.diff(self.ends, prepend=0)

    def draw(self, words: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw a replacement for each wrong word independently. Returns sequences, int64."""
        found = self.replacements.draw(words, rng)
        unknown = found == SAME_AS_UNKNOWN
        found[unknown] = self.replacements.draw(np.zeros(int(unknown.sum()), np.int64), rng)
        return found

    def expected_wer(self, counts: np.ndarray, marks: float) -> float:
        """Return the expected word error rate of a text, given the count of each type, and the fraction of slots with a
        mark (`marks`)."""
        lengths = self.lengths
        edits = self.replacements.mean(np.append(np.maximum(lengths, 1), 0))  # the last item is for SAME_AS_UNKNOWN
        edits += self.replacements.mean(np.append(np.zeros(len(lengths)), 1)) * edits[0]
        words = max(counts.sum(), 1)
        wrong = float(counts @ self.errors) / words
        correct = (1 - wrong) * (1 - (1 - self.burst) * wrong)  # P(both words next to a slot are correct)
        added = self.inserted * self.insertions.mean(np.append(lengths, 0))
        return float(counts @ (self.errors * edits)) / words + correct * float(added @ [1 - marks, marks])

    def at_wer(self, wer: float, counts: np.ndarray, marks: float) -> "NoiseTable":
        """Return a table in which one factor scales the probabilities of errors and insertions, so that the expected
        WER is `wer`. Raises InputError if no factor reaches `wer`."""
        low, high = 0.0, 1.0
        while self._times(high).expected_wer(counts, marks) < wer:
            low, high = high, 2 * high
            if high > 1 << 20:
                raise InputError(f"these confusions cannot give a word error rate of {wer:g}", "ask for a lower one")
        for _ in range(50):
            middle = (low + high) / 2
            if self._times(middle).expected_wer(counts, marks) < wer:
                low = middle
            else:
                high = middle
        return self._times(high)

    def _times(self, factor: float) -> "NoiseTable":
        return replace(self, errors=np.minimum(self.errors * factor, HIGHEST),
                       inserted=np.minimum(self.inserted * factor, HIGHEST))


class Sequences:
    """Assigns numbers to sequences of types. The number of a sequence of one type is the type."""

    def __init__(self, types: int):
        self._types = types
        self._numbers: dict[tuple[int, ...], int] = {(): types}

    def number(self, sequence: tuple[int, ...]) -> int:
        if len(sequence) == 1:
            return sequence[0]
        return self._numbers.setdefault(sequence, self._types + len(self._numbers))

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the concatenated types of all sequences, and the end of each sequence."""
        longer = [np.array(sequence, np.int64) for sequence in self._numbers]
        words = np.concatenate([np.arange(self._types), *longer])
        lengths = np.concatenate([np.ones(self._types, np.int64), [len(sequence) for sequence in longer]])
        return words, np.cumsum(lengths)


def make_table(confusions: Confusions, types: dict[str, int], words: Container[str]) -> NoiseTable:
    """Make the table for a text that consists of `words` and unknown words. All `words` have types. Words in
    `confusions` that have no type count as unknown words."""
    size = max(types.values(), default=0) + 1
    seen, wrong = np.zeros(size), np.zeros(size)
    for word, count in confusions.seen.items():
        seen[types.get(word, 0)] += count
    sequences = Sequences(size)
    counted = defaultdict[tuple[int, int], float](float)  # (type, sequence) → count
    deleted = np.zeros(size)
    for (word, output), count in confusions.replaced.items():
        row = types.get(word, 0)
        outcome = sequences.number(tuple(types.get(heard, 0) for heard in output))
        wrong[row] += count
        deleted[row] += count * (not output)
        counted[row, outcome] += count
        if row and confusions.seen[word] == 1:
            counted[0, outcome] += count  # words seen once stand for unknown words
    errors, deletions = _smoothed(seen, wrong, deleted)
    few = {number: word for word, number in reversed(types.items()) if number and wrong[number] < ENOUGH
           and word in words}
    rows, outcomes, weights = _alike(confusions, types, few)
    weights *= 1 - deletions[rows]
    deleted_too = np.array([0, *few], np.int64)  # includes type 0, so that type 0 has at least one outcome
    deletion = np.full(len(deleted_too), sequences.number(()))
    prior = np.concatenate([weights, np.maximum(deletions[deleted_too], 1e-9)])
    mean = Choices(np.concatenate([np.array([row for row, _ in counted], np.int64), rows, deleted_too]),
                   np.concatenate([np.array([outcome for _, outcome in counted], np.int64), outcomes, deletion]),
                   np.concatenate([np.array([*counted.values()]), PRIOR * prior]), size, SAME_AS_UNKNOWN)
    inserted, insertions = _insertions(confusions, types, sequences)
    return NoiseTable(errors, mean, inserted, insertions, confusions.burst, *sequences.arrays())


def _smoothed(seen: np.ndarray, wrong: np.ndarray, deleted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for each type the probability that a word of this type is wrong, and the fraction of deletions among the
    errors of all words in the type's frequency band."""
    bands = np.maximum(np.frexp(seen)[1], RARE)
    in_band, wrong_in, deleted_in = (np.bincount(bands[seen > 0], counts[seen > 0], bands.max() + 1)
                                     for counts in (seen, wrong, deleted))
    rates = wrong_in / np.maximum(in_band, 1)
    return (wrong + PRIOR * rates[bands]) / (seen + PRIOR), (deleted_in / np.maximum(wrong_in, 1))[bands]


def _alike(confusions: Confusions, types: Mapping[str, int],
           words: Mapping[int, str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find words that sound like each of `words`. Returns rows, outcomes (types) and weights for `Choices`; the weights
    in each row sum to 1."""
    sounds = Sounds(confusions)
    heard_types = np.array([types.get(word, 0) for word in sounds.words], np.int64)
    rows, outcomes, weights = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
    for number, (near, probabilities) in zip(words, sounds.neighbours([*words.values()])):
        found = heard_types[near] if len(near) else np.array([SAME_AS_UNKNOWN])
        rows.append(np.full(len(found), number))
        outcomes.append(found)
        weights.append(probabilities if len(near) else np.ones(1))
    return np.concatenate(rows), np.concatenate(outcomes), np.concatenate(weights)


def _insertions(confusions: Confusions, types: Mapping[str, int], sequences: Sequences) -> tuple[np.ndarray, Choices]:
    found = [(PLACES.index(place), sequences.number(tuple(types.get(word, 0) for word in words)), count)
             for (place, words), count in confusions.inserted.items()]
    rows, outcomes, weights = (np.array(column, kind) for column, kind in
                               zip(zip(*found) if found else ((), (), ()), (np.int64, np.int64, np.float64)))
    slots = np.array([confusions.slots[place] for place in PLACES], np.float64)
    inserted = np.bincount(rows, weights, len(PLACES)) / np.maximum(slots, 1)
    return inserted, Choices(rows, outcomes, weights, len(PLACES), sequences.number(()))


class Sounds:
    """Finds the words that a word can be heard as. `words`: all words of the ASR output, in C-locale order."""

    def __init__(self, confusions: Confusions):
        self.words = sorted(confusions.heard, key=str.encode)
        self._frequency = np.array([confusions.heard[word] for word in self.words], np.float64)
        self._lengths = np.array([len(word) for word in self.words])
        edits: Counter[tuple[str, str]] = Counter()
        for (word, output), _ in sorted(confusions.replaced.items()):
            if len(output) == 1 and Levenshtein.normalized_distance(word, output[0]) <= ALIKE:
                edits.update(_edits(word, output[0]))
                edits.update(zip(word, word))  # counts all characters as kept; `_edits` has subtracted changed ones
        self._log_probs = _log_probabilities(edits)

    def neighbours(self, words: Sequence[str]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return for each word the words that it can be heard as, if any: their indices in `self.words` and their
        probabilities."""
        found: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        lengths = np.array([len(word) for word in words], np.int64)
        for length in np.unique(lengths).tolist():
            limit = max(1, length // 3)
            choices = np.flatnonzero(np.abs(self._lengths - length) <= limit)
            others = [self.words[i] for i in choices.tolist()]
            group = np.flatnonzero(lengths == length)
            for block in np.split(group, range(BLOCK, len(group), BLOCK)):
                distances = process.cdist([words[i] for i in block], others, scorer=Levenshtein.distance,
                                          score_cutoff=limit, dtype=np.uint8)
                for i, row in zip(block.tolist(), distances):
                    found[i] = self._heard_as(words[i], choices[(row > 0) & (row <= limit)])
        return [found[i] for i in range(len(words))]

    def _heard_as(self, word: str, near: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        log_probs = []  # relative to the log-probability of keeping all characters
        for other in near:
            edits = _edits(word, self.words[other])
            log_probs.append(sum(count * self._log_probs.get(edit, self._log_probs["", ""])
                                 for edit, count in edits.items()))
        weights = self._frequency[near] * np.exp(log_probs)
        best = np.argsort(-weights, kind="stable")[:MOST]
        return near[best], weights[best] / max(weights[best].sum(), 1e-300)


def _edits(word: str, other: str) -> Counter[tuple[str, str]]:
    """Count the character edits that change `word` to `other`. The edit (c, c), which keeps the character c, is counted
    as −1 for each c that is not kept."""
    found: Counter[tuple[str, str]] = Counter()
    for edit in Levenshtein.editops(word, other):
        before = "" if edit.tag == "insert" else word[edit.src_pos]
        found[before, "" if edit.tag == "delete" else other[edit.dest_pos]] += 1
        if before:
            found[before, before] -= 1
    return found


def _log_probabilities(edits: Counter[tuple[str, str]]) -> dict[tuple[str, str], float]:
    """Return the log-probability of each edit. ("", "") stands for unseen edits."""
    kinds = len({after for _, after in edits}) + 1
    totals: Counter[str] = Counter()
    for (before, _), count in edits.items():
        totals[before] += count
    totals[""] = sum(totals.values())  # an insertion is possible at each character
    found = {edit: math.log((count + UNSEEN) / (totals[edit[0]] + UNSEEN * kinds)) for edit, count in edits.items()}
    found["", ""] = math.log(UNSEEN / (max(totals.values()) / max(len(totals), 1) + UNSEEN * kinds))
    return found
