"""The plots and tables of a set: confusions, precision and recall, calibration, and F1 of parts of it."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from punc.results.breakdowns import Breakdown, breakdowns, by_stream
from punc.results.curves import precision_recall, reliability
from punc.results.figures import plot_breakdown, plot_precision_recall, plot_reliability
from punc.results.slot_table import SlotTable

MOST_RECORDINGS = 20  # in the table of the worst


def view(table: SlotTable | str, style: Mapping[str, dict], id: str, shown: Collection[str]) -> dict[str, Any]:
    """What the page says of a set.

    table   its slots, or why there are none
    style   how systems are drawn
    id      of the set in the page
    shown   the streams that the error browser has
    """
    if isinstance(table, str):
        return {"slots": None, "reason": table}
    return {"slots": int(table.counted.sum()), "labels": table.labels.names, "left_out": table.left_out,
            "wer": table.recognition.wer if table.recognition else None,
            "confusions": [{"system": system, "rows": _confusion(table, system)} for system in table.hypotheses],
            "without_posteriors": [system for system, one in table.hypotheses.items() if one.posteriors is None],
            "curves": _curves(table, style, id), "reliability": _reliability(table, style, id),
            "parts": [{"svg": plot_breakdown(part, style, f"{id}part{i}"), **_rows(part)}
                      for i, part in enumerate(breakdowns(table))],
            "streams": _streams(table, shown)}


def _confusion(table: SlotTable, system: str) -> list[dict[str, Any]]:
    """For each reference label, the slots by hypothesis label and their share of the row, in percent."""
    counts = table.confusion(system)[0]
    return [{"label": name, "cells": [(int(count), 100 * count / row.sum() if row.any() else None) for count in row]}
            for name, row in zip(table.labels.names, counts)]


def _curves(table: SlotTable, style: Mapping[str, dict], id: str) -> dict[str, Any] | None:
    """Precision-recall curves of each mark and system with posteriors."""
    found: dict[str, dict] = {}
    for number, name in enumerate(table.labels.names):
        for system, one in table.hypotheses.items():
            if number and one.posteriors is not None:
                used = table.counted
                curve = precision_recall(one.posteriors[used, number], table.reference[used] == number,
                                         one.labels[used] == number)
                if curve:
                    found.setdefault(name, {})[system] = curve
    if not found:
        return None
    systems = list(dict.fromkeys(system for by_system in found.values() for system in by_system))
    return {"svg": plot_precision_recall(found, style, f"{id}pr"), "marks": list(found),
            "rows": [(system, [found[mark].get(system) for mark in found]) for system in systems]}


def _reliability(table: SlotTable, style: Mapping[str, dict], id: str) -> dict[str, Any] | None:
    used = table.counted
    found = {system: reliability(one.posteriors[used], table.reference[used])
             for system, one in table.hypotheses.items() if one.posteriors is not None}
    if not found:
        return None
    return {"svg": plot_reliability(found, style, f"{id}ece"), "rows": list(found.items())}


def _rows(part: Breakdown) -> dict[str, Any]:
    return {"title": part.title, "systems": list(part.f1), "rows": [
        {"group": group, "slots": slots, "marks": marks, "f1": [values[i] for values in part.f1.values()]}
        for i, (group, slots, marks) in enumerate(zip(part.groups, part.slots, part.marks))]}


def _streams(table: SlotTable, shown: Collection[str]) -> dict[str, Any] | None:
    """The recordings or speakers with the lowest F1; None if there is only one."""
    if len(table.streams) < 2:
        return None
    found = _rows(by_stream(table))
    defined = [row for row in found["rows"] if not np.isnan(row["f1"]).all()]
    return found | {"all": len(found["rows"]),
                    "rows": [row | {"shown": row["group"] in shown} for row in defined[:MOST_RECORDINGS]]}
