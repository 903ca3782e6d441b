"""The table of the systems of a set: metrics with intervals, and which systems differ from the best one."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from punc.base.errors import InputError
from punc.data.labels import LabelSet
from punc.scoring.collect import Score, paired_tests
from punc.scoring.metrics import is_summary

MAIN = "overall.F1"
ALPHA = 0.05


def systems_table(scores: Sequence[Score]) -> dict[str, Any]:
    """Rows and columns of the scores of one set; a figure is a value with interval, or None.

    best   the system with the highest overall F1
    test   of each row: a paired test of overall F1 against the best system, in words
    """
    empty = LabelSet.read(scores[0].path / "labels.txt").names[0]
    names = [name for name in dict.fromkeys(name for score in scores for name in score.metrics)
             if is_summary(name) and name != f"{empty}.F1"]
    names.sort(key=lambda name: name != MAIN)
    known = [score for score in scores if MAIN in score.metrics and not np.isnan(score.metrics[MAIN].value)]
    best = max(known, key=lambda score: score.metrics[MAIN].value, default=None)
    rows = [{"system": score.system, "cells": [score.metrics.get(name) for name in names],
             "test": "best" if score is best else _against(best, score) if best else ""} for score in scores]
    return {"columns": [name.replace(".", " ") for name in names], "rows": rows,
            "best": best.system if best else ""}


def _against(best: Score, score: Score) -> str:
    try:
        test = paired_tests([best, score], [(best.system, score.system)], [MAIN])[0]
    except InputError:
        return "not testable: other slots were scored"
    if np.isnan(test.p):
        return "undefined"
    verdict = "worse" if test.p < ALPHA else "not significant"
    return f"{verdict}: {-test.difference:+.1f}, p {test.p:.4f}"
