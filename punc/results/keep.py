"""Rows of published pages kept next to new ones, whose systems were trained or scored on another machine.

A system that is new replaces all its kept rows, those of other seeds too: they are of another training. A paired test
needs the scores of both systems, so one of a new and a kept system is not there, unless the new rows repeat the kept
ones figure by figure, as a training does on a processor of the same kind: then the kept test is theirs, too.
"""

import os
import re
from collections.abc import Mapping, Sequence
from typing import TypeVar

from punc.base.errors import InputError
from punc.results.collect import rank
from punc.results.page_data import PageData
from punc.results.seeds import without_seed

T = TypeVar("T")
SAME = ("labels", "words", "last-slot", "slots", "reference")  # of a signature, where rows of a set are compared


def keep_rows(new: PageData, kept: PageData, directory: str | os.PathLike, systems: Sequence[str] = (),
              sets: Sequence[str] = ()) -> PageData:
    """The rows of `new`, and those of `kept` whose systems are not new, in the order of `collect_scores`.

    directory   that of `kept`, for messages

    Raises InputError if rows of a set are of other slots or another reference, so that they cannot be compared.
    """
    fresh = {without_seed(system) for system in new.systems}
    rows = {key: one for key, one in kept.metrics.items() if without_seed(key[0]) not in fresh}
    _check_comparable(new.signatures, {key: kept.signatures.get(key, "") for key in rows}, directory)
    metrics, signatures = rows | new.metrics, kept.signatures | new.signatures
    order = sorted(metrics, key=lambda key: (rank(key[1], sets), rank(key[0], systems)))
    others = {system for system, _ in rows}
    repeated = {system for system in fresh if _figures(new, system) == _figures(kept, system)}
    tested = {without_seed(system) for system in others} | repeated
    own = {test[:4] for test in new.tests}
    tests = [*new.tests, *(test for test in kept.tests if test[:4] not in own
                           and {without_seed(test.this), without_seed(test.other)} <= tested)]
    command = "\n".join(dict.fromkeys([*(kept.command.splitlines() if rows else []), *new.command.splitlines()]))
    return PageData({key: metrics[key] for key in order}, {key: signatures[key] for key in order if key in signatures},
                    sorted(tests, key=lambda test: rank(test.set, sets)), _of(others, kept.costs) | new.costs, command,
                    sorted({*kept.pictures, *new.pictures}), _of(others, kept.trainings) | new.trainings)


def dropped_rows(new: PageData, kept: PageData) -> list[tuple[str, str]]:
    """The rows (system, set) of `kept` that `keep_rows` leaves out and `new` has not: of other seeds and sets."""
    fresh = {without_seed(system) for system in new.systems}
    return [key for key in kept.metrics if without_seed(key[0]) in fresh and key not in new.metrics]


def _figures(data: PageData, system: str) -> dict[tuple[str, str], str]:
    """All that was measured of the runs of a system; as text, in which what is not a number equals itself."""
    return {key: str(row) for key, row in data.metrics.items() if without_seed(key[0]) == system}


def _of(systems: set[str], table: Mapping[str, T]) -> dict[str, T]:
    return {system: one for system, one in table.items() if system in systems}


def _check_comparable(new: Mapping[tuple[str, str], str], kept: Mapping[tuple[str, str], str],
                      directory: str | os.PathLike) -> None:
    """Raise InputError if a kept row of a set has a signature with other slots than a new one."""
    first: dict[str, dict[str, str]] = {}
    for (_, name), signed in new.items():
        first.setdefault(name, _parts(signed))
    for (system, name), signed in kept.items():
        ours, theirs = first.get(name, {}), _parts(signed)
        for part in SAME:
            if name in first and ours.get(part) != theirs.get(part):
                raise InputError(f"{name} of {system} has {part}:{theirs.get(part)}, here it is {ours.get(part)}",
                                 "rows of other data are no rows of one page; make the sets from the same corpus",
                                 directory)


def _parts(signed: str) -> dict[str, str]:
    return dict(re.findall(r"([^|:]+):([^|]*)", signed))
