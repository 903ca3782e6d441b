"""Scores of parts of a set: by pause, distance from a recognition error, words between marks, position, stream."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from punc.results.slot_table import SlotTable
from punc.scoring.metrics import compute_metrics

PAUSES = (0.01, 0.1, 0.2, 0.3, 0.5, 1.0)  # s; under 10 ms, the shortest frame of an ASR system, there is no pause
DISTANCES = (1, 2, 4, 8, 16)  # words
LENGTHS = (1, 3, 6, 11, 21, 41)  # words
POSITIONS = (5, 20, 100, 1000)  # slots from the stream's begin


class Breakdown(NamedTuple):
    """A score by group.

    title    what the groups are
    groups   their names
    slots    counted slots of each group
    marks    of these, those with a mark in the reference
    f1       by system, overall F1 of each group, in percent, NaN undefined
    """

    title: str
    groups: list[str]
    slots: list[int]
    marks: list[int]
    f1: dict[str, list[float]]


def breakdown(table: SlotTable, title: str, groups: Sequence[str], group: np.ndarray) -> Breakdown:
    """Overall F1 of each group of slots; groups without a slot are left out.

    group   int64 (slots,): the group of each slot, -1 for none
    """
    counts = {system: table.confusion(system, group, len(groups)) for system in table.hypotheses}
    one = next(iter(counts.values()))
    slots, marks = one.sum((1, 2)), one[:, 1:].sum((1, 2))
    kept = np.flatnonzero(slots)
    f1 = {system: compute_metrics(count[kept], table.labels)["overall.F1"].tolist() for system, count in counts.items()}
    return Breakdown(title, [groups[i] for i in kept.tolist()], slots[kept].tolist(), marks[kept].tolist(), f1)


def breakdowns(table: SlotTable) -> list[Breakdown]:
    """All that a set has but that by stream."""
    found = []
    if np.isfinite(table.pauses).any():
        known = np.where(np.isnan(table.pauses), np.inf, table.pauses)
        group = np.where(np.isinf(known), len(PAUSES) + 1, np.digitize(known, PAUSES))
        names = [*_ranges(PAUSES, "none"), "unknown"]
        found.append(breakdown(table, "F1 by length of pause, in seconds", names, group))
    if table.recognition is not None:
        distance = table.recognition.distance
        group = np.where(distance < 0, len(DISTANCES) + 1, np.digitize(distance, DISTANCES))
        names = ["at an error", *_whole(DISTANCES), "no error in the stream"]
        found.append(breakdown(table, "F1 by words to the nearest recognition error", names, group))
    names, group = _whole(LENGTHS), np.digitize(span_lengths(table), LENGTHS) - 1
    found.append(breakdown(table, "F1 by words from one mark of the reference to the next", names, group))
    position = np.arange(len(table.words)) - np.repeat(table.begins[:-1], np.diff(table.begins)) + 1
    names = _whole((1, *(edge + 1 for edge in POSITIONS)))
    group = np.digitize(position, POSITIONS, right=True)
    found.append(breakdown(table, "F1 by position in the stream, in slots", names, group))
    return found


def span_lengths(table: SlotTable) -> np.ndarray:
    """The number of words from one mark of the reference to the next one, or a stream's end, around each slot, int64.

    The slot of a mark belongs to the words before it.
    """
    last = table.reference > 0
    last[table.begins[1:][np.diff(table.begins) > 0] - 1] = True
    lengths = np.diff(np.flatnonzero(last), prepend=-1)
    return np.repeat(lengths, lengths)


def by_stream(table: SlotTable) -> Breakdown:
    """F1 of each recording or speaker, the worst first: by the mean over systems, undefined last."""
    whole = breakdown(table, "F1 by recording or speaker", table.streams, table.stream_of)
    mean = np.mean(list(whole.f1.values()), axis=0)
    order: Callable[[list], list] = partial(_take, np.argsort(mean, kind="stable").tolist())
    return Breakdown(whole.title, order(whole.groups), order(whole.slots), order(whole.marks),
                     {system: order(values) for system, values in whole.f1.items()})


def _take(order: Sequence[int], values: Sequence) -> list:
    return [values[i] for i in order]


def _ranges(edges: Sequence[float], first: str) -> list[str]:
    """The names of the groups between edges: the first, `0.01–0.1`, …, `from 1`."""
    inner = [f"{low:g}–{high:g}" for low, high in pairwise(edges)]
    return [first, *inner, f"from {edges[-1]:g}"]


def _whole(firsts: Sequence[int]) -> list[str]:
    """The names of groups of whole numbers, by the first of each: `1`, `2–3`, …, `from 16`."""
    inner = [str(low) if low == high - 1 else f"{low}–{high - 1}" for low, high in pairwise(firsts)]
    return [*inner, f"from {firsts[-1]}"]
