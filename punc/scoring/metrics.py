"""Computes metrics, in percent, from counts. METRICS lists all metrics; the functions `_of_…` contain the formulas.

`--collapse NAME:CLASS=LABEL+LABEL,CLASS=…` merges labels into classes; NAME is the name of the metric.

A division by zero gives NaN: P of a label that is never predicted, R of a label that is never expected, and F1 of a
label that is neither predicted nor expected. F1 of a label that is only predicted or only expected is 0.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.data.labels import LabelSet

PARTS = ("P", "R", "F1")  # a table column, such as `overall`, shows the metrics overall.P, overall.R and overall.F1
SUMMARY = "F1"  # the part by which systems are compared
OUTCOMES = ("correct", "substituted", "deleted", "inserted")  # what can happen to a word
# Names of metrics; `parse_collapse` refuses them as names of collapses.
TAKEN = ("overall", "macro", "sentence", "capital")
FORMS = ("WER", "WER_C", "WER_PC")  # word error rates: of words without case, with case, and with case and marks

# For single figures, {row: (part, whole)}; for P, R and F1, {column: (right, predicted, expected)}.
Amounts = dict[str, tuple[np.ndarray, ...]]


class Metric(NamedTuple):
    """A row of the table of metrics."""

    name: str  # the row, such as `Err`, or the column of P, R and F1, such as `overall`; LABEL stands for any label
    single: bool  # true: the metric is one row; false: it consists of the rows P, R and F1
    meaning: str
    source: str = ""
    lowest: bool = False  # whether lower values are better


METRICS = (
    Metric("LABEL", False, "precision, recall and F1 of each label except the empty label",
           "Che et al. 2016, section 3.2"),
    Metric("overall", False, "all marks, micro-averaged: a mark is right if its label is right",
           "Che et al. 2016, section 3.2"),
    Metric("macro.F1", True, "the mean F1 of the marks whose F1 is defined"),
    Metric("Err", True, "wrong slots / slots", "Tilk & Alumäe 2015, section 3.3", lowest=True),
    Metric("SER", True, "slot error rate: wrong slots / marks of the reference", "Makhoul et al. 1999", lowest=True),
    Metric("PER", True, "punctuation error rate: wrong slots / slots with a mark in the reference or in the output",
           "Meister et al. 2023 (LibriSpeech-PC), section 4", lowest=True),
    Metric("NAME", False, "all marks, with labels merged by `--collapse NAME:…`; NAME.CLASS: one class",
           "Che et al. 2016, section 3.3"),
    Metric("sentence", False, "sentence ends, whatever their mark", "Liu & Shriberg 2007"),
    Metric("SU-error", True, "(missed + inserted sentence ends) / sentence ends", "NIST RT-04F; Liu et al. 2006",
           lowest=True),
    Metric("capital", False, "words that begin with a capital, if labels have capitals"),
    Metric("capital.accuracy", True, "words whose first letter has the right case / words"),
    Metric("LABEL.AUPRC", True, "area under the precision-recall curve: average precision; needs `post.ark`",
           "Davis & Goadrich 2006"),
    Metric("WER", True, "word error rate of words without case and marks", lowest=True),
    Metric("WER_C", True, "word error rate of words with their capitals", "Meister et al. 2023", lowest=True),
    Metric("WER_PC", True, "word error rate of words with their capitals and marks", "Meister et al. 2023",
           lowest=True),
    Metric("EMPTY", False, "precision, recall and F1 of slots without a mark; EMPTY is the empty label's name"),
)


class Collapse(NamedTuple):
    """Merged labels: the name of the metric, the classes (the empty class first), and the index of each label's class,
    (labels,)."""

    name: str
    classes: tuple[str, ...]
    number: np.ndarray


def parse_collapse(text: str, labels: LabelSet) -> Collapse:
    """Parse `NAME:CLASS=LABEL+LABEL,CLASS=…`. Each label that is not named is a separate class.

    The class with the empty label is the empty class. `NAME` alone merges all marks into the class PUNCTUATED. Che et
    al. 2016 (section 3.3) use two classes, PUNCTUATED and the empty class, and also the three classes of
    `3-class:FULLSTOP=PERIOD+QUESTION`. Raises InputError for a label that is not in the set or is named twice, for a
    class without a name, and for a NAME that is empty, in TAKEN or the name of a label.
    """
    name, colon, groups = text.partition(":")
    pairs = [("PUNCTUATED", label) for label in labels.names[1:]]
    if colon:
        pairs = []
        for group in groups.split(","):
            class_name, _, members = group.partition("=")
            pairs += [(class_name, label) for label in members.split("+")]
    class_of = {label: class_name for class_name, label in pairs}
    unknown = [label for label in class_of if label not in labels.names]
    wrong = ""
    if unknown:
        wrong = f"'{unknown[0]}' is not a label of the set"
    elif len(class_of) < len(pairs):
        wrong = "a label is named twice"
    elif "" in class_of.values():
        wrong = "a class has no name"
    elif name in {"", *TAKEN, *labels.names}:
        wrong = f"a metric cannot be called '{name}'"
    if wrong:
        raise InputError(f"collapse '{text}': {wrong}", "write NAME:CLASS=LABEL+LABEL,… with labels of the set")
    names = [class_of.get(label, label) for label in labels.names]
    classes = tuple(dict.fromkeys(names))
    return Collapse(name, classes, np.array([classes.index(one) for one in names]))


def merge_counts(counts: np.ndarray, number: np.ndarray, classes: int) -> np.ndarray:
    """Merge confusion counts (…, labels, labels) into (…, classes, classes). `number`: the index of each label's
    class."""
    member = np.zeros((len(number), classes), counts.dtype)
    member[np.arange(len(number)), number] = 1
    return member.T @ counts @ member


def merged_labels(labels: LabelSet, classes: str) -> tuple[LabelSet, np.ndarray]:
    """Return a label set of classes, each written like its first label, and the index of each label's class,
    (labels,)."""
    collapse = parse_collapse(f"merge:{classes}", labels)
    firsts = [labels[int(np.flatnonzero(collapse.number == i)[0])] for i in range(len(collapse.classes))]
    merged = tuple(replace(label, name=name) for label, name in zip(firsts, collapse.classes))
    return LabelSet(merged), collapse.number


def ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Return 100 · part / whole; NaN where whole is 0."""
    return np.divide(100 * np.asarray(part, np.float64), whole, out=np.full(np.shape(whole), np.nan), where=whole != 0)


def prf(column: str, right: np.ndarray, predicted: np.ndarray, expected: np.ndarray) -> dict[str, np.ndarray]:
    """Return P = right / predicted, R = right / expected and their harmonic mean F1 as rows of `column`."""
    values = ratio(right, predicted), ratio(right, expected), ratio(2 * right, predicted + expected)
    return {f"{column}.{part}": value for part, value in zip(PARTS, values)}


def class_amounts(counts: np.ndarray, i: int) -> tuple[np.ndarray, ...]:
    """Count the right, predicted and expected slots of class i. `counts`: (…, classes, classes)."""
    return counts[..., i, i], counts[..., :, i].sum(-1), counts[..., i, :].sum(-1)


def mark_amounts(counts: np.ndarray) -> tuple[np.ndarray, ...]:
    """Count the right, predicted and expected slots of all classes but the first. `counts`: (…, classes, classes)."""
    right = np.trace(counts[..., 1:, 1:], axis1=-2, axis2=-1)
    return right, counts[..., :, 1:].sum((-2, -1)), counts[..., 1:, :].sum((-2, -1))


def two_classes(counts: np.ndarray, members: Sequence[bool]) -> np.ndarray:
    """Merge counts (…, labels, labels) into (…, 2, 2). Class 1 contains the members, and class 0 all other labels."""
    return merge_counts(counts, np.array(members, np.int64), 2)


def _wrong(counts: np.ndarray) -> np.ndarray:
    return counts.sum((-2, -1)) - np.trace(counts, axis1=-2, axis2=-1)


def _of_slots(counts: np.ndarray, labels: LabelSet, collapses: Sequence[Collapse]) -> Amounts:
    slots, wrong = counts.sum((-2, -1)), _wrong(counts)
    found: Amounts = {name: class_amounts(counts, i) for i, name in enumerate(labels.names) if i}
    found["overall"] = mark_amounts(counts)
    f1 = np.stack([prf("", *class_amounts(counts, i))[f".{SUMMARY}"] for i in range(1, len(labels))])
    found["macro.F1"] = np.nansum(f1, 0) / 100, np.isfinite(f1).sum(0)
    found["Err"] = wrong, slots
    found["SER"] = wrong, counts[..., 1:, :].sum((-2, -1))
    # NeMo's punctuation_error_rate uses this formula, but its own alignment can pair marks that are a word apart.
    found["PER"] = wrong, slots - counts[..., 0, 0]
    for collapse in collapses:
        merged = merge_counts(counts, collapse.number, len(collapse.classes))
        found[collapse.name] = mark_amounts(merged)
        for i, name in enumerate(collapse.classes):  # metrics of each merged class, unless it contains all marks
            if i and len(collapse.classes) > 2 and name not in labels.names:
                found[f"{collapse.name}.{name}"] = class_amounts(merged, i)
    if labels.sentence_ends:
        ends = two_classes(counts, [name in labels.sentence_ends for name in labels.names])
        found["sentence"] = class_amounts(ends, 1)
        found["SU-error"] = _wrong(ends), ends[..., 1, :].sum(-1)
    if labels.cased:
        both = two_classes(counts, [label.capital for label in labels])
        found["capital"] = class_amounts(both, 1)
        found["capital.accuracy"] = np.trace(both, axis1=-2, axis2=-1), slots
    return found


def _of_posteriors(histograms: np.ndarray, labels: LabelSet) -> Amounts:
    """Return the area under each mark's precision-recall curve, Σ (R_n − R_{n−1}) P_n over thresholds n, as
    part and whole."""
    wrong, right = np.moveaxis(histograms[..., ::-1], -2, 0)  # (…, labels, bins), the highest posterior first
    above = right.cumsum(-1)
    both = above + wrong.cumsum(-1)
    precision = np.divide(above, both, out=np.zeros_like(above), where=both > 0)
    part, whole = (precision * right).sum(-1), right.sum(-1)
    return {f"{name}.AUPRC": (part[..., i], whole[..., i]) for i, name in enumerate(labels.names) if i}


def _of_words(words: np.ndarray) -> Amounts:
    """Return the word error rate (S + D + I) / (C + S + D), as part and whole, for each of FORMS that was counted."""
    found: Amounts = {}
    for form, name in enumerate(FORMS):
        correct, substituted, deleted, inserted = np.moveaxis(words[..., form, :], -1, 0)
        if words[..., form, :].any():
            found[name] = substituted + deleted + inserted, correct + substituted + deleted
    return found


def compute_metrics(counts: np.ndarray, labels: LabelSet, collapses: Sequence[Collapse] = (),
                    words: np.ndarray | None = None, posteriors: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """Return all metrics, in percent, of confusion counts (…, labels, labels). Each metric has the shape (…).

    words        word errors (…, FORMS, OUTCOMES)
    posteriors   histograms (…, labels, 2, bins)
    """
    counts = np.asarray(counts, np.float64)
    amounts = _of_slots(counts, labels, collapses)
    if posteriors is not None:
        amounts |= _of_posteriors(np.asarray(posteriors, np.float64), labels)
    if words is not None:
        amounts |= _of_words(np.asarray(words, np.float64))
    amounts[labels.names[0]] = class_amounts(counts, 0)
    rows: dict[str, np.ndarray] = {}
    for name, values in amounts.items():
        rows |= prf(name, *values) if len(values) == len(PARTS) else {name: ratio(*values)}
    return rows


def compute_flat(counts: np.ndarray, labels: LabelSet, collapses: Sequence[Collapse] = ()) -> dict[str, np.ndarray]:
    """Return all metrics, given `counts` (…, numbers): rows of `Counts.flat`, or sums of such rows."""
    pairs = len(labels) ** 2
    slots = counts[..., :pairs].reshape(*counts.shape[:-1], len(labels), len(labels))
    words = None
    if counts.shape[-1] > pairs:
        words = counts[..., pairs:].reshape(*counts.shape[:-1], len(FORMS), len(OUTCOMES))
    return compute_metrics(slots, labels, collapses, words)


def single(name: str) -> Metric | None:
    found = (one for one in METRICS if one.single and fnmatchcase(name, one.name.replace("LABEL", "*")))
    return next(found, None)


def column_of(name: str) -> str:
    """Return the table column of a metric: `COMMA` for `COMMA.P`, `COMMA.R` and `COMMA.F1`; otherwise its own name."""
    column, _, part = name.rpartition(".")
    return column if part in PARTS and not single(name) else name


def columns(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(map(column_of, dict.fromkeys(names))))


def rows_of(column: str) -> list[str]:
    """Return the metrics that a table column shows: `COMMA.P`, `COMMA.R` and `COMMA.F1` for `COMMA`."""
    return [column] if single(column) else [f"{column}.{part}" for part in PARTS]


def is_summary(name: str) -> bool:
    """Return whether systems are compared by this metric. They are compared by F1 and single figures, not by P or R."""
    return single(name) is not None or (column_of(name) != name and name.endswith(f".{SUMMARY}"))


def lower_is_better(name: str) -> bool:
    metric = single(name)
    return metric is not None and metric.lowest
