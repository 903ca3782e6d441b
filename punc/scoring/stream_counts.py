"""Counts of streams: their slots by reference and hypothesis label, and their word errors, in blocks of the reference.

If the words of a stream differ, as in ASR output, the reference slots are first projected onto the words of the
hypothesis by edit distance (`timing.align`; Tilk & Alumäe 2015, section 3). The slots of the hypothesis are scored: a
mark that after projection shares its slot with a stronger one is gone from both sides.

A *block* is `block` words of the reference in a row. A word of the hypothesis is in the block of the reference word
that it is paired with, or else of the nearest one before it; so systems that changed words differently have the same
blocks.
"""

from collections.abc import Hashable, Sequence
from itertools import chain, count
from typing import NamedTuple

import numpy as np

from punc.timing.align import Alignment, align_streams, project_labels, project_slots

FORMS = 3  # of a word: plain, cased, cased and with its mark
OUTCOMES = 4  # of a word: correct, substituted, deleted, inserted
LAST_SLOTS = ("true", "false", "only")  # the slot at a stream's end counts, does not, or counts alone
CUT, RUN = 1000, 8  # words between cuts of a stream that is aligned again, and equal words around a cut


class Words(NamedTuple):
    """One side of a stream.

    plain    the words as they are compared to align both sides
    slots    (words,) int64: the number of the label after each word
    cased    the words with their capitals; None if capitals are not known
    """

    plain: Sequence[str]
    slots: np.ndarray
    cased: Sequence[str] | None = None


class StreamCounts(NamedTuple):
    """The counts of some streams.

    blocks      how many blocks each stream has
    confusion   (blocks, labels, labels) int64: slots, by reference and by hypothesis label
    words       (blocks, FORMS, OUTCOMES) int64: word errors; zeros for the cased form if capitals are not known
    aligned     how many streams have different words on both sides
    slots       (hypothesis words,) int64: the reference label of each slot of the hypothesis
    """

    blocks: list[int]
    confusion: np.ndarray
    words: np.ndarray
    aligned: int
    slots: np.ndarray


def count_streams(streams: Sequence[tuple[Words, Words]], marks: Sequence[Hashable], block: int = 0,
                  last_slot: str = "true") -> StreamCounts:
    """Count streams, at least one, each given as reference and hypothesis.

    marks      what each label writes behind a word, as many as there are labels: in word errors with marks, labels with
               the same mark are the same
    block      reference words per block; 0: a stream is one block
    last_slot  the slot at a stream's end: "true" counts it, "false" leaves it out, "only" counts nothing else
    """
    layout = _Layout([len(ref.plain) for ref, _ in streams], [len(hyp.plain) for _, hyp in streams], block)
    sides = [[pair[i] for pair in streams] for i in (0, 1)]
    ref_slots, hyp_slots = (np.concatenate([side.slots for side in one]) for one in sides)
    plain = _numbers([side.plain for side in sides[0]], [side.plain for side in sides[1]])
    alignment = layout.align(*plain)
    words = np.zeros((layout.total, FORMS, OUTCOMES), np.int64)
    words[:, 0] = layout.outcomes(*plain, alignment)
    forms = plain
    if all(side.cased is not None for side in chain(*sides)):
        forms = _numbers([side.cased or () for side in sides[0]], [side.cased or () for side in sides[1]])
        words[:, 1] = layout.outcomes(*forms, layout.align_again(*forms, alignment))
    distinct = list(dict.fromkeys(marks))
    mark = np.array([distinct.index(one) for one in marks])
    written = forms[0] * len(marks) + mark[ref_slots], forms[1] * len(marks) + mark[hyp_slots]
    words[:, 2] = layout.outcomes(*written, layout.align_again(*written, alignment))
    expected = project_labels(alignment, np.where(layout.has_slot(alignment), ref_slots, 0))
    counted = counted_slots([len(hyp.plain) for _, hyp in streams], last_slot)
    slots = confusion(expected[counted], hyp_slots[counted], layout.unit_of_hyp(alignment)[counted], layout.total,
                      len(marks))
    return StreamCounts(layout.blocks.tolist(), slots, words, layout.different(*plain), expected)


def confusion(reference: np.ndarray, hypothesis: np.ndarray, unit: np.ndarray, units: int, labels: int) -> np.ndarray:
    """Count pairs of labels: three arrays (slots,) -> (units, labels, labels) int64, reference × hypothesis."""
    cell = (unit * labels + reference) * labels + hypothesis
    return np.bincount(cell, minlength=units * labels * labels).reshape(units, labels, labels)


def counted_slots(lengths: Sequence[int], last_slot: str) -> np.ndarray:
    """Whether a slot counts, (slots,) bool, of streams of these lengths; `last_slot` as in `count_streams`."""
    last = np.zeros(sum(lengths), bool)
    last[np.cumsum(lengths, dtype=np.int64)[np.array(lengths, np.int64) > 0] - 1] = True
    return (np.ones_like(last), ~last, last)[LAST_SLOTS.index(last_slot)]


def _numbers(ref: Sequence[Sequence[str]], hyp: Sequence[Sequence[str]]) -> tuple[np.ndarray, np.ndarray]:
    """The words of all streams, as numbers: the same for the same word. Two arrays (words,) int64."""
    ids = dict(zip(dict.fromkeys(chain(*ref, *hyp)), count()))
    numbers = [np.fromiter(map(ids.__getitem__, chain(*side)), np.int64, sum(map(len, side))) for side in (ref, hyp)]
    return numbers[0], numbers[1]


class _Layout:
    """Where streams and their blocks lie in arrays of all words of both sides."""

    def __init__(self, ref_lengths: Sequence[int], hyp_lengths: Sequence[int], block: int):
        self.ref_ends, self.hyp_ends = np.cumsum(ref_lengths, dtype=np.int64), np.cumsum(hyp_lengths, dtype=np.int64)
        self.ref_begins, self.hyp_begins = self.ref_ends - ref_lengths, self.hyp_ends - hyp_lengths
        lengths = np.array(ref_lengths, np.int64)
        self.block = block or int(max(lengths)) + 1
        self.blocks = np.maximum(-(-lengths // self.block), 1)
        self.total = int(self.blocks.sum())
        streams = np.arange(len(lengths))
        self.ref_stream, self.hyp_stream = np.repeat(streams, ref_lengths), np.repeat(streams, hyp_lengths)

    def align(self, ref: np.ndarray, hyp: np.ndarray) -> Alignment:
        return align_streams(ref, hyp, self.ref_ends.tolist(), self.hyp_ends.tolist())

    def align_again(self, ref: np.ndarray, hyp: np.ndarray, plain: Alignment) -> Alignment:
        """Align another form of words that are aligned as plain ones.

        Long streams are cut about every CUT words, in the middle of RUN words that are paired and equal in this form,
        which costs nothing unless the words repeat themselves there.
        """
        pairs = plain.ref_to_hyp
        equal = pairs >= 0
        equal[equal] = ref[equal] == hyp[pairs[equal]]
        equal[1:] &= (pairs[:-1] >= 0) & (pairs[1:] == pairs[:-1] + 1)
        equal[self.ref_begins[self.ref_begins < self.ref_ends]] = False
        sums = np.append(0, np.cumsum(equal))
        middle = np.flatnonzero(sums[RUN:] - sums[:-RUN] == RUN) + RUN // 2
        within = middle - self.ref_begins[self.ref_stream[middle]]
        key = self.ref_stream[middle] * (len(ref) + 1) + within // CUT
        cuts = middle[np.unique(key, return_index=True)[1]]
        cuts = cuts[cuts - self.ref_begins[self.ref_stream[cuts]] >= CUT]
        return align_streams(ref, hyp, np.sort(np.append(cuts, self.ref_ends)).tolist(),
                             np.sort(np.append(pairs[cuts], self.hyp_ends)).tolist())

    def different(self, ref: np.ndarray, hyp: np.ndarray) -> int:
        """How many streams have different words on both sides."""
        bounds = zip(self.ref_begins, self.ref_ends, self.hyp_begins, self.hyp_ends)
        return sum(not np.array_equal(ref[r0:r1], hyp[h0:h1]) for r0, r1, h0, h1 in bounds)

    def _unit(self, stream: np.ndarray, place: np.ndarray) -> np.ndarray:
        """The block of places in the reference, each of a stream; a place before the stream is in its first block."""
        within = np.maximum(place - self.ref_begins[stream], 0) // self.block
        return (np.cumsum(self.blocks) - self.blocks)[stream] + within

    def unit_of_hyp(self, alignment: Alignment) -> np.ndarray:
        """The block of each hypothesis word, (words,): that of its pair, or else of the nearest pair before it."""
        place = np.zeros(alignment.n_hyp, np.int64)
        paired = np.flatnonzero(alignment.ref_to_hyp >= 0)
        place[alignment.ref_to_hyp[paired]] = paired
        return self._unit(self.hyp_stream, np.maximum.accumulate(place))

    def has_slot(self, alignment: Alignment) -> np.ndarray:
        """Whether a reference slot has a slot of the hypothesis: a word of its own stream is paired up to there."""
        return project_slots(alignment) >= self.hyp_begins[self.ref_stream]

    def outcomes(self, ref: np.ndarray, hyp: np.ndarray, alignment: Alignment) -> np.ndarray:
        """Words that are correct, substituted, deleted and inserted in each block, (blocks, OUTCOMES) int64."""
        unit = self._unit(self.ref_stream, np.arange(len(ref)))
        paired = alignment.ref_to_hyp >= 0
        right = paired.copy()
        right[paired] = ref[paired] == hyp[alignment.ref_to_hyp[paired]]
        inserted = np.ones(alignment.n_hyp, bool)
        inserted[alignment.ref_to_hyp[paired]] = False
        return np.stack([np.bincount(part, minlength=self.total) for part in (
            unit[right], unit[paired & ~right], unit[~paired], self.unit_of_hyp(alignment)[inserted])], axis=1)
