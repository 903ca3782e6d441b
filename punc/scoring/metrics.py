"""Scores: the slots of reference and hypothesis -> counts per unit -> sums -> figures in percent.

A *unit* is an utterance, or a block of N slots of one stream. Its counts are a confusion matrix, reference ×
hypothesis, over the labels of the set; every figure is a function of a sum of such matrices, so that
resampling units (punc.scoring.significance) or adding up sets needs no scoring again.

Where the words of a stream differ, as in ASR output, the reference slots are projected onto the words of
the hypothesis by edit distance first (punc.timing.align; Tilk & Alumäe 2015, section 3), and the slots scored are
the hypothesis's: a mark that shares a slot with a stronger one after that is gone from both sides.
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
from punc.data.datadir import DataDir, Utterance
from punc.data.labels import LabelSet
from punc.timing.align import align_words, project_labels


class Counts(NamedTuple):
    """Confusion counts of some units.

    units       the units' names: utterance ids, or STREAM:NUMBER for blocks
    confusion   (units, labels, labels) int64: slots, by reference and by hypothesis label
    streams     how many streams were scored
    aligned     how many of them had other words in reference and hypothesis
    """

    units: list[str]
    confusion: np.ndarray
    streams: int = 0
    aligned: int = 0


class Collapse(NamedTuple):
    """Labels taken together as one: the score's name, the classes' names, and (labels,) -> class numbers."""

    name: str
    classes: tuple[str, ...]
    number: np.ndarray


def count(reference: DataDir, hypothesis: DataDir, labels: LabelSet, block: int = 0, last_slot: str = "true",
          match: str = "utterances") -> Counts:
    """Count slots by reference and hypothesis label, one stream at a time.

    block       slots a unit; 0: a unit is an utterance of the hypothesis. Blocks do not cross streams
    last_slot   the slot at a stream's end: "true" counts it, "false" leaves it out, "only" counts nothing else
    match       what both must have: the same "utterances", or only the same "streams", cut in any way

    Raises InputError where ids differ, labels are missing or are not in the set, or no slot is left.
    """
    for data in (reference, hypothesis):
        if not data.has_labels:
            raise InputError("no labels to score", "it needs a file punct", data.path)
    units, tables, streams, aligned = [], [], 0, 0
    for stream, ref, hyp in _streams_of_both(reference, hypothesis, match):
        ref_words, hyp_words = ([word for utterance in side for word in utterance.words] for side in (ref, hyp))
        ref_slots, hyp_slots = _numbers(ref, labels, reference), _numbers(hyp, labels, hypothesis)
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
    if not counts.confusion.any():
        raise InputError("no slot to score", "the data directories have no words, or --last-slot took them all",
                         reference.path)
    return counts


def _streams_of_both(reference: DataDir, hypothesis: DataDir,
                     match: str) -> Iterator[tuple[str, list[Utterance], list[Utterance]]]:
    """The streams of two directories side by side. Raises InputError at the first difference in ids."""
    remedy = "score the output of the same data directory"
    for ref, hyp in itertools.zip_longest(reference.streams(), hypothesis.streams()):
        ref_stream, hyp_stream = ("nothing" if side is None else f"stream '{side[0]}'" for side in (ref, hyp))
        if ref_stream != hyp_stream:
            raise InputError(f"{hyp_stream} where {reference.path} has {ref_stream}", remedy, hypothesis.path)
        for one, other in itertools.zip_longest(ref[1], hyp[1]) if match == "utterances" else ():
            ref_id, hyp_id = ("nothing" if side is None else f"utterance '{side.id}'" for side in (one, other))
            if ref_id != hyp_id:
                raise InputError(f"{hyp_id} where {reference.path} has {ref_id}",
                                 f"{remedy}, or give --match streams where only the cuts differ", hypothesis.path)
        yield ref[0], ref[1], hyp[1]


def _numbers(utterances: Sequence[Utterance], labels: LabelSet, data: DataDir) -> np.ndarray:
    """The label numbers of all slots of a stream, (slots,) int64. Raises InputError for a label not in the set."""
    names = itertools.chain.from_iterable(utterance.labels for utterance in utterances)
    try:
        return np.fromiter(map(labels.index, names), np.int64)
    except KeyError:
        known = set(labels.names)
        utterance, name = next((u, name) for u in utterances for name in u.labels if name not in known)
        raise InputError(f"utterance '{utterance.id}' has label '{name}', which is not in the label set",
                         "give the --labels that it was made with", data.path / "punct") from None


def confusion(reference: np.ndarray, hypothesis: np.ndarray, unit: np.ndarray, units: int, labels: int) -> np.ndarray:
    """Count label pairs: (slots,) × 3 -> (units, labels, labels), reference × hypothesis, int64."""
    cell = (unit * labels + reference) * labels + hypothesis
    return np.bincount(cell, minlength=units * labels * labels).reshape(units, labels, labels)


def parse_collapse(text: str, labels: LabelSet) -> Collapse:
    """`NAME:CLASS=LABEL+LABEL,CLASS=…` as a Collapse; labels not named stay as they are.

    A class that holds the empty label is the empty class. `NAME` alone takes all marks as one class, PUNCTUATED:
    Che et al. 2016's 2 classes; `3-class:FULLSTOP=PERIOD+QUESTION` is their 3 classes (section 3.3).
    Raises InputError for a label that is not in the set or that is named twice.
    """
    name, colon, groups = text.partition(":")
    pairs = [(group.partition("=")[0], label) for group in groups.split(",")
             for label in group.partition("=")[2].split("+")] if colon else [
             ("PUNCTUATED", label) for label in labels.names[1:]]
    of = {label: group for group, label in pairs}
    wrong = next((f"'{label}' is no label of the set" for label in of if label not in labels.names),
                 "a label stands twice" if len(of) < len(pairs) else "a class has no name" if "" in of.values() else
                 f"'{name}' cannot name it" if name in {"", "overall", "macro", *labels.names} else None)
    if wrong:
        raise InputError(f"collapse '{text}': {wrong}", "write NAME:CLASS=LABEL+LABEL,… with labels of the set")
    classes = tuple(dict.fromkeys(of.get(label, label) for label in labels.names))
    return Collapse(name, classes, np.array([classes.index(of.get(label, label)) for label in labels.names]))


def figures(counts: np.ndarray, labels: LabelSet, collapses: Sequence[Collapse] = ()) -> dict[str, np.ndarray]:
    """All figures, in percent, of confusion counts (…, labels, labels); each figure has the shape (…).

    LABEL.P, .R, .F1   precision, recall and their harmonic mean, of every label, the empty one last
    overall.P, .R, .F1 the same over all labels but the empty one, micro-averaged: a mark is right where its label
                       is. Che et al. 2016, section 3.2: correctly predicted marks / all predicted, / all expected,
                       so that overall.P is the mean of the labels' P weighted with how often each was predicted,
                       overall.R the mean of their R weighted with how often each is expected
    macro.F1           the plain mean of the marks' F1
    NAME.P, .R, .F1    the overall score with labels collapsed, and of each class NAME.CLASS that has several labels
    Err                wrong slots / all slots (Tilk & Alumäe 2015, section 3.3)
    SER                slot error rate: (substitutions + deletions + insertions) / marks in the reference. As a slot
                       has one label, that is wrong slots / marks in the reference

    A figure that would divide by zero is NaN: P of a label never predicted, R of one never expected, F1 where
    both are so. F1 of a label that is expected and never predicted is 0.
    """
    counts = np.asarray(counts, np.float64)
    slots, right = counts.sum((-2, -1)), np.trace(counts, axis1=-2, axis2=-1)
    result = {}
    for i, name in [*enumerate(labels.names)][1:]:
        result |= _prf(name, counts[..., i, i], counts[..., :, i].sum(-1), counts[..., i, :].sum(-1))
    f1 = np.stack([result[f"{name}.F1"] for name in labels.names[1:]])
    result |= _overall("overall", counts)
    result["macro.F1"] = _ratio(np.nansum(f1, 0) / 100, np.isfinite(f1).sum(0))
    result["Err"] = _ratio(slots - right, slots)
    result["SER"] = _ratio(slots - right, counts[..., 1:, :].sum((-2, -1)))
    for collapse in collapses:
        member = np.eye(len(collapse.classes))[collapse.number]  # (labels, classes)
        merged = member.T @ counts @ member
        result |= _overall(collapse.name, merged)
        for i, name in [*enumerate(collapse.classes)][1:] if len(collapse.classes) > 2 else ():
            if name not in labels.names:
                result |= _prf(f"{collapse.name}.{name}", merged[..., i, i], merged[..., :, i].sum(-1),
                               merged[..., i, :].sum(-1))
    return result | _prf(labels.names[0], counts[..., 0, 0], counts[..., :, 0].sum(-1), counts[..., 0, :].sum(-1))


def _overall(name: str, counts: np.ndarray) -> dict[str, np.ndarray]:
    """P, R, F1 over all classes but the first, of counts (…, classes, classes)."""
    right = np.trace(counts[..., 1:, 1:], axis1=-2, axis2=-1)
    return _prf(name, right, counts[..., :, 1:].sum((-2, -1)), counts[..., 1:, :].sum((-2, -1)))


def _prf(name: str, right: np.ndarray, predicted: np.ndarray, expected: np.ndarray) -> dict[str, np.ndarray]:
    return {f"{name}.P": _ratio(right, predicted), f"{name}.R": _ratio(right, expected),
            f"{name}.F1": _ratio(2 * right, predicted + expected)}


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """100 · part / whole, NaN where whole is 0."""
    return np.divide(100 * np.asarray(part, np.float64), whole, out=np.full(np.shape(whole), np.nan), where=whole != 0)


def write_counts(path: str | os.PathLike, counts: Counts, labels: LabelSet) -> None:
    """Write counts as a table: a line for each unit, a column REFERENCE>HYPOTHESIS for each pair of labels."""
    with atomic_file(path) as file:
        file.write("\t".join(["unit", *(f"{r}>{h}" for r in labels.names for h in labels.names)]) + "\n")
        for unit, row in zip(counts.units, counts.confusion.reshape(len(counts.units), -1).tolist()):
            file.write(unit + "\t" + "\t".join(map(str, row)) + "\n")


def read_counts(path: str | os.PathLike) -> tuple[Counts, LabelSet]:
    """The counts and the label set of a score directory. Raises InputError where it is none."""
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
            except ValueError:
                raise InputError("not the counts of a unit", "score again", table, number) from None
    if not units:
        raise InputError("no counts", "score again", table)
    return Counts(units, np.array(rows).reshape(-1, len(labels), len(labels))), labels
