"""Sets of a store that are several sets, end to end: `NAME=SET,SET,…`. A set that is named twice is there twice.

Training reads one set. Texts of many sources are one set when they are joined, and chunks of it come in random order,
so each batch has all sources. Where a set has no pauses, those of the joined set are unknown; where it has no turns, no
change of speaker is known.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from punc.base.errors import InputError
from punc.tokens.store_set import ARRAYS, StoreSet, flat_file, read_set

BLOCK = 1 << 22  # items that are copied at once
UNKNOWN = {"pauses": np.nan, "turns": False}  # what stands for a set that has none


def parse_joins(joins: Sequence[str], sets: Sequence[str]) -> dict[str, list[str]]:
    """`NAME=SET,SET,…` as names and members. Raises InputError for an unknown set, or a name that is one already."""
    found: dict[str, list[str]] = {}
    for join in joins:
        name, _, members = join.partition("=")
        found[name] = members.split(",")
        for member in found[name]:
            if member not in sets:
                raise InputError(f"--join {join}: no set '{member}'", f"write NAME=SET,SET with {' '.join(sets)}")
        if not name or name in sets or "/" in name:
            raise InputError(f"--join {join}: '{name}' cannot name a joined set", "give it a name of its own")
    return found


def join_sets(store: Path, joins: Mapping[str, Sequence[str]]) -> None:
    """Write joined sets next to their members in a store. Raises InputError if only some members have labels."""
    for name, members in joins.items():
        sets = [read_set(store / member) for member in members]
        labelled = [data.labels is not None for data in sets]
        if any(labelled) != all(labelled):
            raise InputError(f"'{members[labelled.index(False)]}' has no labels, other sets of '{name}' have",
                             "join sets that all have labels, or none")
        (store / name).mkdir()
        _write(store / name, sets)


def _write(folder: Path, sets: Sequence[StoreSet]) -> None:
    names = [name for name in ARRAYS if any(getattr(data, name) is not None for data in sets)]
    with contextlib.ExitStack() as stack:
        files = {name: stack.enter_context(flat_file(folder / f"{name}.npy", ARRAYS[name])) for name in names}
        index = stack.enter_context(open(folder / "index", "w", encoding="utf-8", newline="\n"))
        start = 0
        for data in sets:
            for block in _blocks(len(data.ids)):
                for name, file in files.items():
                    array, size = getattr(data, name), len(data.ids[block])
                    file.write((np.full(size, UNKNOWN[name], ARRAYS[name]) if array is None else array[block]).data)
            for stream, begin, end in zip(data.streams, data.offsets, data.offsets[1:]):
                index.write(f"{stream} {start + begin} {end - begin}\n")
            start += len(data.ids)


def _blocks(items: int) -> Iterator[slice]:
    return (slice(begin, begin + BLOCK) for begin in range(0, items, BLOCK))
