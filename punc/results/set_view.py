"""Makes the plots and tables of a set: confusions, precision and recall, calibration, and F1 of groups of slots."""

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from punc.results.figures import draw
from punc.results.slot_table import SlotTable
from punc.scoring.metrics import compute_metrics

POINTS = 120  # the maximum number of points of a drawn curve
BINS = 15  # number of bins of the reliability diagram, as in Guo et al. 2017
# The shortest pause in each group, in seconds. A pause under 10 ms, the usual frame shift, counts as no pause.
PAUSES = (0.01, 0.1, 0.2, 0.3, 0.5, 1.0)
DISTANCES = (1, 2, 4, 8, 16)  # the lower bound of each group, in words to the nearest recognition error
LENGTHS = (1, 3, 6, 11, 21, 41)  # the lower bound of each group, in words from one mark to the next
POSITIONS = (5, 20, 100, 1000)  # the last position in each group, in slots from the stream's start
MOST_RECORDINGS = 20  # the maximum number of rows in the table of the worst recordings
PERCENT = (0, 102)  # the limits of an axis in percent, with a margin


class Group(NamedTuple):
    """The score of a group of slots."""

    group: str  # the group's name
    slots: int  # the number of slots that the score counts
    marks: int  # the number of these slots that have a mark in the reference
    f1: list[float]  # overall F1 of each system, in percent; NaN: undefined


def breakdown(table: SlotTable, names: Sequence[str], group: np.ndarray) -> list[Group]:
    """Return the scores of the groups that contain slots. `group`: each slot's group, int64 (slots,), −1 for no
    group."""
    counts = [table.confusion(system, group, len(names)) for system in table.hypotheses]
    slots = counts[0].sum((1, 2)).tolist()
    marks = counts[0][:, 1:].sum((1, 2)).tolist()
    kept = np.flatnonzero(slots).tolist()
    f1 = [compute_metrics(count[kept], table.labels)["overall.F1"].tolist() for count in counts]
    return [Group(names[i], slots[i], marks[i], list(values)) for i, *values in zip(kept, *f1)]


def breakdowns(table: SlotTable) -> dict[str, list[Group]]:
    """Return title → scores of the groups, for each grouping of slots except the grouping by stream."""
    found: dict[str, list[Group]] = {}
    if np.isfinite(table.pauses).any():
        known = np.where(np.isnan(table.pauses), np.inf, table.pauses)
        group = np.where(np.isinf(known), len(PAUSES) + 1, np.digitize(known, PAUSES))
        inner = [f"{low:g}–{high:g}" for low, high in pairwise(PAUSES)]
        names = ["none", *inner, f"from {PAUSES[-1]:g}", "unknown"]
        found["F1 by length of pause, in seconds"] = breakdown(table, names, group)
    if table.recognition is not None:
        distance = table.recognition.distance
        group = np.where(distance < 0, len(DISTANCES) + 1, np.digitize(distance, DISTANCES))
        names = ["at an error", *_whole(DISTANCES), "no error in the stream"]
        found["F1 by words to the nearest recognition error"] = breakdown(table, names, group)
    last = table.reference > 0  # stretches end at slots with a mark, and at the last slot of each stream
    last[table.begins[1:][np.diff(table.begins) > 0] - 1] = True
    lengths = np.diff(np.flatnonzero(last), prepend=-1)
    names = _whole(LENGTHS)
    group = np.digitize(np.repeat(lengths, lengths), LENGTHS) - 1
    found["F1 by words from one mark of the reference to the next"] = breakdown(table, names, group)
    position = np.arange(len(table.words)) - np.repeat(table.begins[:-1], np.diff(table.begins)) + 1
    names = _whole((1, *(edge + 1 for edge in POSITIONS)))
    group = np.digitize(position, POSITIONS, right=True)
    found["F1 by position in the stream, in slots"] = breakdown(table, names, group)
    return found


def by_stream(table: SlotTable) -> list[Group]:
    """Return the score of each recording or speaker, sorted by mean F1 over systems: worst first, undefined last."""
    found = breakdown(table, table.streams, table.stream_of)
    order = np.argsort(np.mean([group.f1 for group in found], axis=1), kind="stable").tolist()
    return [found[i] for i in order]


def _whole(firsts: Sequence[int]) -> list[str]:
    """Return the names of groups of integers, given the first integer of each: `1`, `2–3`, …, `from 16`."""
    inner = [str(low) if low == high - 1 else f"{low}–{high - 1}" for low, high in pairwise(firsts)]
    return [*inner, f"from {firsts[-1]}"]


class PrecisionRecall(NamedTuple):
    """A precision-recall curve, in percent."""

    recall: np.ndarray  # (points,), rising
    precision: np.ndarray
    average_precision: float  # area under the steps of the whole curve: sum of (R_n - R_{n-1}) P_n
    operating: tuple[float, float]  # recall and precision of the labels that the system wrote; NaN: undefined


class Reliability(NamedTuple):
    """A reliability diagram, in percent, for the bins that contain a slot."""

    confidence: np.ndarray  # mean posterior of the most probable label
    accuracy: np.ndarray  # the share of slots in which the most probable label is right
    slots: np.ndarray  # number of slots in each bin
    error: float  # expected calibration error: mean of |accuracy - confidence|, weighted by slots


def precision_recall(posterior: np.ndarray, expected: np.ndarray, written: np.ndarray) -> PrecisionRecall | None:
    """Return the curve of a mark, or None if the mark is not in the reference. The three arrays (slots,) contain the
    mark's posterior, whether the reference has the mark, and whether the system wrote it."""
    total = int(expected.sum())
    if not total:
        return None
    order = np.argsort(-posterior, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(posterior[order])), len(order) - 1)  # equal posteriors share a threshold
    right = np.cumsum(expected[order])[ends]
    recall, precision = 100 * right / total, 100 * right / (ends + 1)
    area = float(np.sum(np.diff(recall, prepend=0.0) * precision) / 100)
    both = int((expected & written).sum())
    at = np.unique(np.searchsorted(recall, np.linspace(recall[0], recall[-1], POINTS)))
    operating = 100 * both / total, 100 * both / written.sum() if written.any() else float("nan")
    return PrecisionRecall(recall[at], precision[at], area, operating)


def reliability(posteriors: np.ndarray, reference: np.ndarray) -> Reliability:
    """Return the reliability diagram (Guo et al. 2017, equations 2 and 3) for posteriors (slots, labels) and the
    reference labels (slots,)."""
    confidence = posteriors.max(1).astype(np.float64)
    right = posteriors.argmax(1) == reference
    bins = np.clip(np.ceil(confidence * BINS).astype(np.int64) - 1, 0, BINS - 1)
    slots = np.bincount(bins, minlength=BINS)
    used = slots > 0
    mean = np.bincount(bins, confidence, BINS)[used] / slots[used]
    accuracy = np.bincount(bins, right, BINS)[used] / slots[used]
    error = float(np.sum(slots[used] * np.abs(accuracy - mean)) / max(slots.sum(), 1))
    return Reliability(100 * mean, 100 * accuracy, slots[used], 100 * error)


def view(table: SlotTable | str, style: Mapping[str, dict], id: str, shown: Collection[str]) -> dict[str, Any]:
    """Return the page's data about a set, or the reason why there is none. `shown`: streams in the error browser."""
    if isinstance(table, str):
        return {"slots": None, "reason": table}
    return {"slots": int(table.counted.sum()), "labels": table.labels.names, "left_out": table.left_out,
            "wer": table.recognition.wer if table.recognition else None,
            "confusions": [{"system": system, "rows": _confusion(table, system)} for system in table.hypotheses],
            "without_posteriors": [system for system, one in table.hypotheses.items() if one.posteriors is None],
            "curves": _curves(table, style, id), "reliability": _reliability(table, style, id),
            "parts": [_part(title, groups, list(table.hypotheses), style, f"{id}part{i}")
                      for i, (title, groups) in enumerate(breakdowns(table).items())],
            "streams": _streams(table, shown)}


def _confusion(table: SlotTable, system: str) -> list[dict[str, Any]]:
    rows = []
    for name, row in zip(table.labels.names, table.confusion(system)[0]):
        total = int(row.sum())
        shares = [100 * count / total if total else None for count in row.tolist()]
        rows.append({"label": name, "cells": list(zip(row.tolist(), shares))})
    return rows


def _curves(table: SlotTable, style: Mapping[str, dict], id: str) -> dict[str, Any] | None:
    found: dict[str, dict[str, PrecisionRecall]] = {}
    used, systems = table.counted, []
    for number, name in enumerate(table.labels.names):
        for system, one in table.hypotheses.items():
            if number and one.posteriors is not None:
                curve = precision_recall(one.posteriors[used, number], table.reference[used] == number,
                                         one.labels[used] == number)
                if curve:
                    found.setdefault(name, {})[system] = curve
                    systems.append(system)
    if not found:
        return None
    curves: dict[str, dict[str, Any]] = {}
    points: dict[str, dict[str, Any]] = {}
    for mark, by_system in found.items():
        curves[mark] = {system: (one.recall, one.precision) for system, one in by_system.items()}
        points[mark] = {system: ([one.operating[0]], [one.operating[1]]) for system, one in by_system.items()}
    svg = draw(curves, style, f"{id}pr", points, markers=False, xlim=PERCENT, xlabel="recall [%]",
               ylabel="precision [%]", ylim=PERCENT)
    return {"svg": svg, "marks": list(found),
            "rows": [(system, [found[mark].get(system) for mark in found]) for system in dict.fromkeys(systems)]}


def _reliability(table: SlotTable, style: Mapping[str, dict], id: str) -> dict[str, Any] | None:
    used = table.counted
    found = {system: reliability(one.posteriors[used], table.reference[used])
             for system, one in table.hypotheses.items() if one.posteriors is not None}
    if not found:
        return None
    curves = {system: (one.confidence, one.accuracy) for system, one in found.items()}
    svg = draw({"": curves}, style, f"{id}ece", diagonal=True, xlim=PERCENT, xlabel="posterior of the label [%]",
               ylabel="labels that are right [%]", ylim=PERCENT)
    return {"svg": svg, "rows": list(found.items())}


def _part(title: str, groups: Sequence[Group], systems: Sequence[str], style: Mapping[str, dict],
          name: str) -> dict[str, Any]:
    curves = {system: (range(len(groups)), [group.f1[i] for group in groups]) for i, system in enumerate(systems)}
    ticks = [group.group.replace(" in the stream", "") for group in groups]
    svg = draw({"": curves}, style, name, ticks=ticks, ylabel="F1 [%]", ylim=PERCENT)
    return {"title": title, "systems": systems, "rows": groups, "svg": svg}


def _streams(table: SlotTable, shown: Collection[str]) -> dict[str, Any] | None:
    if len(table.streams) < 2:
        return None
    groups = by_stream(table)
    defined = [group for group in groups if not np.isnan(group.f1).all()]
    return {"title": "F1 by recording or speaker", "systems": list(table.hypotheses), "all": len(groups),
            "rows": [group._asdict() | {"shown": group.group in shown} for group in defined[:MOST_RECORDINGS]]}
