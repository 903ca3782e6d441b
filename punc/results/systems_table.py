"""The table of the systems of a set: metrics with intervals, and which systems differ from the best one."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from punc.base.errors import InputError
from punc.data.labels import LabelSet
from punc.results.collect import Score, paired_tests
from punc.results.seeds import Spread, join_seeds
from punc.scoring.markdown import chance
from punc.scoring.metrics import is_summary

MAIN = "overall.F1"
ALPHA = 0.05


def systems_table(scores: Sequence[Score]) -> dict[str, Any]:
    """Rows and columns of the scores of one set; a figure is a value with interval, or None.

    A system with several seeds is one row, whose figures are means with standard deviations.

    best   the system with the highest overall F1
    test   of each row: a paired test of overall F1 against the best system, in words
    runs   the numbers of runs that systems have, if some have several
    """
    empty = LabelSet.read(scores[0].path / "labels.txt").names[0]
    names = [name for name in dict.fromkeys(name for score in scores for name in score.metrics)
             if is_summary(name) and name != f"{empty}.F1"]
    names.sort(key=lambda name: name != MAIN)
    found = join_seeds({(score.system, score.set): score.metrics for score in scores})
    metrics = {system: row for (system, _), row in found.items()}
    known = [system for system, row in metrics.items() if MAIN in row and not np.isnan(row[MAIN].value)]
    best = max(known, key=lambda system: metrics[system][MAIN].value, default="")
    rows = [{"system": system, "cells": [row.get(name) for name in names],
             "test": "best" if system == best else _against(best, system, scores) if best else ""}
            for system, row in metrics.items()]
    return {"columns": [name.replace(".", " ") for name in names], "rows": rows, "best": best,
            "runs": sorted({one.runs for row in metrics.values() for one in row.values() if isinstance(one, Spread)})}


def _against(best: str, system: str, scores: Sequence[Score]) -> str:
    try:
        test = paired_tests(scores, [(best, system)], [MAIN])[0]
    except InputError:
        return "not testable: other slots were scored"
    if np.isnan(test.p):
        return "undefined"
    verdict = "worse" if test.p < ALPHA else "not significant"
    return f"{verdict}: {-test.difference:+.1f}, p {chance(test.p)}"
