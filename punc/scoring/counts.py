"""Confusion counts: the slots of a reference and a hypothesis, counted unit by unit.

A *unit* is an utterance, or a block of N slots of one stream. Its counts are a confusion matrix, reference ×
hypothesis, over the labels of the set. Every metric is a function of a sum of such matrices, so resampling units
(`significance`) or adding up sets needs no second scoring.

If the words of a stream differ, as in ASR output, the reference slots are first projected onto the words of the
hypothesis by edit distance (`timing.align`; Tilk & Alumäe 2015, section 3). The slots of the hypothesis are scored: a
mark that after projection shares its slot with a stronger one is gone from both sides.
"""

import itertools
import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.files import atomic_file, decode_line, open_input
from punc.base.jobs import Share
from punc.data.datadir import DataDir, Utterance, label_numbers
from punc.data.labels import LabelSet
from punc.data.tables import count_blanks
from punc.timing.align import align_words, project_labels


class Counts(NamedTuple):
    """Confusion counts of some units.

    units       the units' names: utterance ids, or STREAM:NUMBER for blocks
    confusion   (units, labels, labels) int64: slots, by reference and by hypothesis label
    streams     how many streams were scored
    aligned     how many of them have different words in reference and hypothesis
    """

    units: list[str]
    confusion: np.ndarray
    streams: int = 0
    aligned: int = 0


def count(reference: DataDir, hypothesis: DataDir, labels: LabelSet, block: int = 0, last_slot: str = "true",
          match: str = "utterances", share: Share | None = None) -> Counts:
    """Count slots by reference and hypothesis label, one stream at a time.

    block       slots per unit; 0: a unit is an utterance of the hypothesis. A block does not cross streams
    last_slot   the slot at a stream's end: "true" counts it, "false" leaves it out, "only" counts nothing else
    match       what both must have: the same "utterances", or only the same "streams", cut in any way
    share       count this share of the streams only

    Raises InputError if ids differ, if labels are missing or not in the set, or if no slot is left of the whole.
    """
    for data in (reference, hypothesis):
        if not data.has_labels:
            raise InputError("no labels to score", "the data directory needs a file punct", data.path)
    units, streams, aligned = [], 0, 0
    tables = [np.zeros((0, len(labels), len(labels)), np.int64)]
    both = _streams_of_both(reference, hypothesis, match)
    if share:
        both = share.of(both, _words, count_blanks(reference.path / "text"))
    for stream, ref, hyp in both:
        ref_words, hyp_words = ([word for utterance in side for word in utterance.words] for side in (ref, hyp))
        ref_slots = label_numbers(ref, labels, reference.path)
        hyp_slots = label_numbers(hyp, labels, hypothesis.path)
        if ref_words != hyp_words:
            ref_slots = project_labels(align_words(ref_words, hyp_words), ref_slots)
            aligned += 1
        if block:
            unit = np.arange(len(hyp_slots)) // block
            names = [f"{stream}:{i:06}" for i in range(math.ceil(len(hyp_slots) / block))]
        else:
            unit = np.repeat(np.arange(len(hyp)), [len(utterance.words) for utterance in hyp])
            names = [utterance.id for utterance in hyp]
        part = {"true": slice(None), "false": slice(-1), "only": slice(-1, None)}[last_slot]
        units += names
        tables.append(confusion(ref_slots[part], hyp_slots[part], unit[part], len(names), len(labels)))
        streams += 1
    counts = Counts(units, np.concatenate(tables), streams, aligned)
    return counts if share else add_up([counts], reference.path)


def add_up(shares: Sequence[Counts], reference: str | os.PathLike) -> Counts:
    """The counts of all shares, in their order, as one. Raises InputError about `reference` if they have no slot."""
    if not any(counts.confusion.any() for counts in shares):
        raise InputError("no slot to score", "the data directories have no words, or --last-slot leaves them all out",
                         reference)
    return Counts([unit for counts in shares for unit in counts.units],
                  np.concatenate([counts.confusion for counts in shares]),
                  sum(counts.streams for counts in shares), sum(counts.aligned for counts in shares))


def _words(stream: tuple[str, list[Utterance], list[Utterance]]) -> int:
    """The words of the reference in a stream."""
    return sum(len(utterance.words) for utterance in stream[1])


def _streams_of_both(reference: DataDir, hypothesis: DataDir,
                     match: str) -> Iterator[tuple[str, list[Utterance], list[Utterance]]]:
    """The streams of two directories in step. Raises InputError at the first difference in ids."""
    remedy = "score the output of the same data directory"
    for ref, hyp in itertools.zip_longest(reference.streams(), hypothesis.streams()):
        ref_stream, hyp_stream = ("nothing" if side is None else f"stream '{side[0]}'" for side in (ref, hyp))
        if ref_stream != hyp_stream:
            raise InputError(f"{hyp_stream} where {reference.path} has {ref_stream}", remedy, hypothesis.path)
        for one, other in itertools.zip_longest(ref[1], hyp[1]) if match == "utterances" else ():
            ref_id, hyp_id = ("nothing" if side is None else f"utterance '{side.id}'" for side in (one, other))
            if ref_id != hyp_id:
                raise InputError(f"{hyp_id} where {reference.path} has {ref_id}",
                                 f"{remedy}, or give --match streams if only the cuts differ", hypothesis.path)
        yield ref[0], ref[1], hyp[1]


def confusion(reference: np.ndarray, hypothesis: np.ndarray, unit: np.ndarray, units: int, labels: int) -> np.ndarray:
    """Count pairs of labels: three arrays (slots,) -> (units, labels, labels) int64, reference × hypothesis."""
    cell = (unit * labels + reference) * labels + hypothesis
    return np.bincount(cell, minlength=units * labels * labels).reshape(units, labels, labels)


def write_counts(path: str | os.PathLike, counts: Counts, labels: LabelSet) -> None:
    """Write counts as a table: one line per unit, one column REFERENCE>HYPOTHESIS per pair of labels."""
    with atomic_file(path) as file:
        file.write("\t".join(["unit", *(f"{r}>{h}" for r in labels.names for h in labels.names)]) + "\n")
        for unit, row in zip(counts.units, counts.confusion.reshape(len(counts.units), len(labels) ** 2).tolist()):
            file.write(unit + "\t" + "\t".join(map(str, row)) + "\n")


def read_counts(path: str | os.PathLike) -> tuple[Counts, LabelSet]:
    """Read the counts and the label set of a score directory. Raises InputError if it is not one."""
    path = Path(path)
    labels = LabelSet.read(path / "labels.txt")
    units, rows, table = [], [], path / "counts.tsv"
    with open_input(table) as file:
        for number, line in enumerate(file, 1):
            unit, *row = decode_line(line, table, number).split("\t")
            try:
                if len(row) != len(labels) ** 2:
                    raise ValueError
                if number > 1:
                    rows.append(np.array(row, np.int64))
                    units.append(unit)
                    if rows[-1].min() < 0:
                        raise ValueError
            except (ValueError, OverflowError):
                raise InputError("not the counts of a unit", "score again", table, number) from None
    if not units:
        raise InputError("no counts", "score again", table)
    return Counts(units, np.array(rows).reshape(-1, len(labels), len(labels))), labels
