"""Counts, for each unit, the slots with each pair of reference and hypothesis label, and the word errors.

Intervals and tests resample *units*. If there are at least MIN_STREAMS streams, a unit is a stream (a recording or a
text), because the utterances of a recording are not independent. If there are fewer, the units are blocks of BLOCK
reference words, because so few streams do not show how much recordings differ. Intervals then hold only for other
passages of the same recordings.

If the reference and the hypothesis of a stream have different words, for example with ASR output, the reference slots
are first projected onto the words of the hypothesis by edit distance (`timing.align`; Tilk & Alumäe 2015, section 3).
Only the slots of the hypothesis are scored: if two reference marks are projected onto one slot, the weaker mark is
lost. A hypothesis word belongs to the block of its reference word. An inserted word belongs to the block of the nearest
paired word before it. Thus, outputs with different words are scored in the same blocks.
"""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError, StrPath
from punc.base.files import atomic_file, decoded_lines
from punc.base.runs import bounds_of
from punc.data.labels import LabelSet
from punc.scoring.metrics import FORMS, OUTCOMES
from punc.timing.align import Alignment, align_streams, project_labels, project_slots, word_numbers

BLOCK = 100  # reference words in a block
MIN_STREAMS = 10  # if there are fewer streams, blocks are resampled instead
LAST_SLOTS = ("true", "false", "only")  # a stream's last slot counts, does not count, or is the only slot that counts
# Before a second alignment, streams are cut about every CUT words, in the middle of RUN words that both sides share.
CUT, RUN = 1000, 8
WORD_COLUMNS = tuple(f"{form}:{outcome}" for form in FORMS for outcome in "CSDI")


class Words(NamedTuple):
    """The reference or the hypothesis of a stream: its words as they are aligned (`plain`), their labels (`slots`) and,
    if known, the words with capitals (`cased`)."""

    plain: Sequence[str]
    slots: np.ndarray  # (words,) int64: the number of the label after each word
    cased: Sequence[str] | None = None


class Counts(NamedTuple):
    """Counts of some units. A unit's name is the id of a stream, or STREAM:NUMBER for a block.

    streams     how many streams were scored; in `aligned` of them, reference and hypothesis have different words
    words       word errors, int64 (units, FORMS, OUTCOMES): zeros for the cased form if capitals are not known; None if
                word errors are not known
    """

    units: list[str]
    confusion: np.ndarray  # int64 (units, labels, labels): number of slots by reference and hypothesis label
    streams: int = 0
    aligned: int = 0
    words: np.ndarray | None = None
    block: int = 0  # reference words per block; 0: the units are streams

    @property
    def flat(self) -> np.ndarray:
        """Return all numbers of each unit in one row, (units, numbers), as `metrics.compute_flat` reads them."""
        tables = [self.confusion] if self.words is None else [self.confusion, self.words]
        return np.concatenate([table.reshape(len(self.units), -1) for table in tables], axis=1)


def count_streams(names: Sequence[str], sides: Sequence[tuple[Words, Words]], labels: LabelSet, block: int = BLOCK,
                  last_slot: str = "true") -> tuple[Counts, np.ndarray]:
    """Count, for each unit, the slots and word errors of one or more streams.

    names      names of the streams
    sides      the reference and the hypothesis of each stream
    block      reference words per block; a block never spans two streams; 0: each stream is one block
    last_slot  whether the last slot of a stream counts: "true", "false", or "only" (no other slot counts)

    Return the counts, and the reference label of each hypothesis slot, int64 (hypothesis words,). For WER_PC, labels
    with the same mark count as equal.
    """
    layout = _Layout([len(ref.plain) for ref, _ in sides], [len(hyp.plain) for _, hyp in sides], block)
    refs, hyps = [ref for ref, _ in sides], [hyp for _, hyp in sides]
    ref_slots, hyp_slots = (np.concatenate([words.slots for words in side]) for side in (refs, hyps))
    plain = word_numbers(*([word for words in side for word in words.plain] for side in (refs, hyps)))
    alignment = align_streams(*plain, layout.ref_ends.tolist(), layout.hyp_ends.tolist())
    errors = np.zeros((layout.total, len(FORMS), len(OUTCOMES)), np.int64)
    errors[:, 0] = layout.outcomes(*plain, alignment)
    forms = plain
    if all(words.cased is not None for words in chain(refs, hyps)):
        forms = word_numbers(*([word for words in side for word in words.cased or ()] for side in (refs, hyps)))
        errors[:, 1] = layout.outcomes(*forms, layout.align_again(*forms, alignment))
    marks = [label.mark for label in labels]
    mark = np.array([marks.index(one) for one in marks])
    written = forms[0] * len(marks) + mark[ref_slots], forms[1] * len(marks) + mark[hyp_slots]
    errors[:, 2] = layout.outcomes(*written, layout.align_again(*written, alignment))
    # A reference slot has a hypothesis slot if the word before the slot, or an earlier word of the stream, is paired.
    has_slot = project_slots(alignment) >= layout.hyp_begins[layout.ref_stream]
    expected = project_labels(alignment, np.where(has_slot, ref_slots, 0))
    counted = counted_slots([len(words.plain) for words in hyps], last_slot)
    slots = confusion(expected[counted], hyp_slots[counted], layout.unit_of_hyp(alignment)[counted], layout.total,
                      len(labels))
    units = [f"{name}:{i:06}" for name, blocks in zip(names, layout.blocks.tolist()) for i in range(blocks)]
    aligned = sum(list(ref.plain) != list(hyp.plain) for ref, hyp in sides)
    return Counts(units, slots, len(names), aligned, errors, block), expected


def confusion(reference: np.ndarray, hypothesis: np.ndarray, unit: np.ndarray, units: int, labels: int) -> np.ndarray:
    """Count slots by unit, reference label and hypothesis label, which are given as arrays (slots,). Returns int64
    (units, labels, labels)."""
    cell = (unit * labels + reference) * labels + hypothesis
    return np.bincount(cell, minlength=units * labels * labels).reshape(units, labels, labels)


def counted_slots(lengths: Sequence[int], last_slot: str) -> np.ndarray:
    """Return a mask of the slots to count, bool (slots,), in streams of these lengths.

    last_slot  see `count_streams`
    """
    last = np.zeros(sum(lengths), bool)
    last[np.cumsum(lengths, dtype=np.int64)[np.array(lengths, np.int64) > 0] - 1] = True
    return (np.ones_like(last), ~last, last)[LAST_SLOTS.index(last_slot)]


def join_blocks(counts: Counts) -> Counts:
    """If there are at least MIN_STREAMS streams, join the blocks of each stream, so that streams are the units."""
    if counts.streams < MIN_STREAMS:
        return counts
    names = [name.rpartition(":")[0] for name in counts.units]
    first = [i for i, name in enumerate(names) if not i or name != names[i - 1]]
    words = None if counts.words is None else np.add.reduceat(counts.words, first)
    return counts._replace(block=0, units=[names[i] for i in first],
                           confusion=np.add.reduceat(counts.confusion, first), words=words)


def add_up(parts: Sequence[Counts], reference: StrPath) -> Counts:
    """Concatenate counts. Raises InputError, naming `reference`, if there is no slot to score."""
    if not any(part.confusion.any() for part in parts):
        raise InputError("there are no slots to score",
                         "the data directories have no words, or --last-slot leaves out all of "
                                             "them",
                         reference)
    return Counts([unit for part in parts for unit in part.units], np.concatenate([part.confusion for part in parts]),
                  sum(part.streams for part in parts), sum(part.aligned for part in parts),
                  np.concatenate([part.words for part in parts if part.words is not None]), parts[0].block)


def write_counts(path: StrPath, counts: Counts, labels: LabelSet) -> None:
    """Write a table: one line per unit; a column REFERENCE>HYPOTHESIS per pair of labels, then WORD_COLUMNS."""
    table = counts.confusion.reshape(len(counts.units), len(labels) ** 2)
    header = ["unit", *(f"{r}>{h}" for r in labels.names for h in labels.names)]
    if counts.words is not None:
        table = np.concatenate([table, counts.words.reshape(len(table), len(WORD_COLUMNS))], axis=1)
        header += WORD_COLUMNS
    with atomic_file(path) as file:
        file.write("\t".join(header) + "\n")
        for unit, row in zip(counts.units, table.tolist()):
            file.write(unit + "\t" + "\t".join(map(str, row)) + "\n")


def read_counts(path: StrPath) -> tuple[Counts, LabelSet]:
    """Read the counts and the label set of a score directory. Raises InputError if its files are missing or broken."""
    path = Path(path)
    labels = LabelSet.read(path / "labels.txt")
    pairs, width = len(labels) ** 2, 0
    units, rows, table = [], [], path / "counts.tsv"
    for number, line in decoded_lines(table):
        unit, *cells = line.split("\t")
        width = width or len(cells)
        try:
            row = np.array(cells, np.int64) if number > 1 else np.zeros(len(cells), np.int64)  # row 1: header
        except (ValueError, OverflowError):
            row = np.array([-1])
        if len(row) != width or width not in (pairs, pairs + len(WORD_COLUMNS)) or row.min() < 0:
            raise InputError("the line is not the counts of a unit", "score again", table, number)
        units.append(unit)
        rows.append(row)
    if len(units) < 2:
        raise InputError("the file has no counts", "score again", table)
    found = np.array(rows[1:])
    words = found[:, pairs:].reshape(-1, len(FORMS), len(OUTCOMES)) if width > pairs else None
    return Counts(units[1:], found[:, :pairs].reshape(-1, len(labels), len(labels)), words=words), labels


class _Layout:
    def __init__(self, ref_lengths: Sequence[int], hyp_lengths: Sequence[int], block: int):
        self.ref_ends = np.cumsum(ref_lengths, dtype=np.int64)
        self.hyp_ends = np.cumsum(hyp_lengths, dtype=np.int64)
        self.ref_begins = self.ref_ends - ref_lengths
        self.hyp_begins = self.hyp_ends - hyp_lengths
        lengths = np.array(ref_lengths, np.int64)
        self.block = block or int(max(lengths)) + 1
        self.blocks = np.maximum(-(-lengths // self.block), 1)
        self.total = int(self.blocks.sum())
        streams = np.arange(len(lengths))
        self.ref_stream = np.repeat(streams, ref_lengths)
        self.hyp_stream = np.repeat(streams, hyp_lengths)

    def align_again(self, ref: np.ndarray, hyp: np.ndarray, plain: Alignment) -> Alignment:
        """Align the words in another form, for example with capitals. The alignment `plain` of the words without
        capitals and marks shows where to cut the streams (see CUT and RUN)."""
        pairs = plain.ref_to_hyp
        equal = pairs >= 0
        equal[equal] = ref[equal] == hyp[pairs[equal]]
        equal[1:] &= (pairs[:-1] >= 0) & (pairs[1:] == pairs[:-1] + 1)
        equal[self.ref_begins[self.ref_begins < self.ref_ends]] = False
        sums = bounds_of(equal)
        middle = np.flatnonzero(sums[RUN:] - sums[:-RUN] == RUN) + RUN // 2
        within = middle - self.ref_begins[self.ref_stream[middle]]
        key = self.ref_stream[middle] * (len(ref) + 1) + within // CUT
        cuts = middle[np.unique(key, return_index=True)[1]]
        cuts = cuts[cuts - self.ref_begins[self.ref_stream[cuts]] >= CUT]
        return align_streams(ref, hyp, np.sort(np.append(cuts, self.ref_ends)).tolist(),
                             np.sort(np.append(pairs[cuts], self.hyp_ends)).tolist())

    def _unit(self, stream: np.ndarray, place: np.ndarray) -> np.ndarray:
        """Return the block of each reference word, given the word's stream and index `place`. An index before the
        stream's first word stands for the stream's first block."""
        within = np.maximum(place - self.ref_begins[stream], 0) // self.block
        return (np.cumsum(self.blocks) - self.blocks)[stream] + within

    def unit_of_hyp(self, alignment: Alignment) -> np.ndarray:
        """Return the block of each hypothesis word, (words,). Inserted words belong to the block of the nearest paired
        word before them."""
        place = np.zeros(alignment.n_hyp, np.int64)
        paired = np.flatnonzero(alignment.ref_to_hyp >= 0)
        place[alignment.ref_to_hyp[paired]] = paired
        return self._unit(self.hyp_stream, np.maximum.accumulate(place))

    def outcomes(self, ref: np.ndarray, hyp: np.ndarray, alignment: Alignment) -> np.ndarray:
        """Count correct, substituted, deleted and inserted words in each block, int64 (blocks, OUTCOMES)."""
        unit = self._unit(self.ref_stream, np.arange(len(ref)))
        paired = alignment.ref_to_hyp >= 0
        right = paired.copy()
        right[paired] = ref[paired] == hyp[alignment.ref_to_hyp[paired]]
        inserted = np.ones(alignment.n_hyp, bool)
        inserted[alignment.ref_to_hyp[paired]] = False
        return np.stack([np.bincount(part, minlength=self.total) for part in (
            unit[right], unit[paired & ~right], unit[~paired], self.unit_of_hyp(alignment)[inserted])], axis=1)
