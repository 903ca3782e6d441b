"""Rows of result pages: the seeds of a system are one row, and rows of published pages stay next to new ones.

Systems that were trained with several seeds are SYSTEM, SYSTEM.seed2, SYSTEM.seed3, ….
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.results.page_data import PageData
from punc.scoring.report import signature_parts
from punc.scoring.significance import Interval

SEED = re.compile(r"\.seed\d+$")
SAME = ("labels", "words", "last-slot", "slots", "reference")  # of a signature, where rows of a set are compared


class Spread(NamedTuple):
    """The mean of a metric over the runs of a system, its sample standard deviation, and the number of runs."""

    value: float
    deviation: float
    runs: int


Row = tuple[str, str]  # system and set
Metrics = Mapping[str, Interval | Spread]


def rank(name: str, order: Sequence[str]) -> tuple[int, bytes]:
    """The place of a name in an order; names that are not in it follow in C order."""
    return (order.index(name) if name in order else len(order), name.encode())


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
            common = [metric for metric in found[0] if all(metric in one for one in found)]
            values = np.array([[one[metric].value for metric in common] for one in found])  # (runs, metrics)
            spreads = zip(values.mean(axis=0).tolist(), values.std(axis=0, ddof=1).tolist())
            joined[row] = {metric: Spread(*spread, len(found)) for metric, spread in zip(common, spreads)}
    return joined


def keep_rows(new: PageData, kept: PageData, directory: str | os.PathLike, systems: Sequence[str] = (),
              sets: Sequence[str] = ()) -> PageData:
    """The rows of `new`, and those of `kept` whose systems are not new, ordered by set, then by system.

    A system that is new replaces all its kept rows, those of other seeds too: they are of another training. A paired
    test needs the scores of both systems, so one of a new and a kept system is not there, unless the new rows repeat
    the kept ones figure by figure, as a training does on a processor of the same kind: then the kept test is theirs.

    directory        that of `kept`, for messages
    systems, sets    the order, as of `collect_scores`

    Raises InputError if rows of a set are of other slots or another reference, so that they cannot be compared.
    """
    fresh = {without_seed(system) for system in new.systems}
    rows = {key: row for key, row in kept.metrics.items() if without_seed(key[0]) not in fresh}
    _check_comparable(new.signatures, {key: kept.signatures.get(key, "") for key in rows}, directory)
    metrics, signatures = rows | new.metrics, kept.signatures | new.signatures
    order = sorted(metrics, key=lambda key: (rank(key[1], sets), rank(key[0], systems)))
    others = {system for system, _ in rows}
    repeated = {system for system in fresh if _figures(new, system) == _figures(kept, system)}
    tested = repeated | {without_seed(system) for system in others}
    own = {test[:4] for test in new.tests}
    tests = [test for test in kept.tests
             if test[:4] not in own and {without_seed(test.this), without_seed(test.other)} <= tested]
    commands = [*(kept.command.splitlines() if rows else []), *new.command.splitlines()]
    return PageData({key: metrics[key] for key in order}, {key: signatures[key] for key in order if key in signatures},
                    sorted([*new.tests, *tests], key=lambda test: rank(test.set, sets)),
                    {system: cost for system, cost in kept.costs.items() if system in others} | new.costs,
                    "\n".join(dict.fromkeys(commands)), sorted({*kept.pictures, *new.pictures}))


def dropped_rows(new: PageData, kept: PageData) -> list[Row]:
    """The rows of `kept` that `keep_rows` leaves out and `new` has not: of other seeds and sets."""
    fresh = {without_seed(system) for system in new.systems}
    return [key for key in kept.metrics if without_seed(key[0]) in fresh and key not in new.metrics]


def _figures(data: PageData, system: str) -> dict[Row, str]:
    """All that was measured of the runs of a system; as text, in which what is not a number equals itself."""
    return {key: str(row) for key, row in data.metrics.items() if without_seed(key[0]) == system}


def _check_comparable(new: Mapping[Row, str], kept: Mapping[Row, str], directory: str | os.PathLike) -> None:
    """Raise InputError if a kept row of a set has a signature with other slots than a new one."""
    first: dict[str, dict[str, str]] = {}
    for (_, name), signed in new.items():
        first.setdefault(name, signature_parts(signed))
    for (system, name), signed in kept.items():
        ours, theirs = first.get(name, {}), signature_parts(signed)
        for part in SAME:
            if name in first and ours.get(part) != theirs.get(part):
                raise InputError(f"{name} of {system} has {part}:{theirs.get(part)}, here it is {ours.get(part)}",
                                 "rows of other data are no rows of one page; make the sets from the same corpus",
                                 directory)
