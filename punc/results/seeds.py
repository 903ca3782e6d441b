"""Systems that were trained with several seeds: SYSTEM, SYSTEM.seed2, SYSTEM.seed3, … are one row of the pages."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from punc.scoring.significance import Interval

SEED = re.compile(r"\.seed\d+$")


class Spread(NamedTuple):
    """The mean of a metric over the runs of a system, its sample standard deviation, and the number of runs."""

    value: float
    deviation: float
    runs: int


Row = tuple[str, str]
Metrics = Mapping[str, Interval | Spread]


def without_seed(system: str) -> str:
    """The name of the system that a run of some seed is of."""
    return SEED.sub("", system)


def runs_of(system: str, names: Iterable[str]) -> list[str]:
    """The runs that are the row `system` (`join_seeds`) among names, in their order; none if there is no such row."""
    found = [name for name in names if system in (name, without_seed(name))]
    return found if system in found or len(found) > 1 else []


def first_runs(systems: Iterable[str]) -> list[str]:
    """One run of each system, in their order."""
    first: dict[str, str] = {}
    for system in systems:
        first.setdefault(without_seed(system), system)
    return list(first.values())


def join_seeds(metrics: Mapping[Row, Mapping[str, Interval]]) -> dict[Row, Metrics]:
    """The metrics of each system and set; those of systems with several seeds as one row, in place of the first.

    A row that is only there with one seed is as it was.
    """
    runs: dict[Row, list[Row]] = {}
    for system, name in metrics:
        runs.setdefault((without_seed(system), name), []).append((system, name))
    joined: dict[Row, Metrics] = {}
    for row, keys in runs.items():
        found = [metrics[key] for key in keys]
        if len(keys) == 1:
            joined[keys[0]] = found[0]
        else:
            joined[row] = {metric: _spread([one[metric].value for one in found])
                           for metric in found[0] if all(metric in one for one in found)}
    return joined


def _spread(values: list[float]) -> Spread:
    return Spread(float(np.mean(values)), float(np.std(values, ddof=1)), len(values))
