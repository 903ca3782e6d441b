"""Data directories at full speed: blocks of whole lines, which several processes count or encode.

The fast side of `DataDir.utterances`: the same tables, order and checks, but a block of lines at a time,
with no Python step per token. A block where a check fails is not explained here: `explain` lets the
data directory itself find the error, with file, line and remedy.
"""

import multiprocessing
import os
import signal
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from itertools import chain, groupby, islice, pairwise, repeat, starmap
from operator import itemgetter, lt
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.datadir import DataDir
from punc.errors import InputError
from punc.files import open_input
from punc.labels import LabelSet
from punc.tables import fields
from punc.vectors import VectorReader

# Bytes of text in a block: to encode, what fits a processor's cache; to count, more, as the counts of blocks are added.
# Both are fixed, since what is forgotten in counting must not depend on the number of processes.
ENCODE_BLOCK, COUNT_BLOCK = 1 << 18, 1 << 22


class Irregular(Exception):
    """A block fails a check; `explain` finds which."""


class Block(NamedTuple):
    """Some utterances of a data directory: the number of their first line, and where they stand in each table.

    places   table → (offset, size) in bytes, the same number of lines in each
    """

    line: int
    places: dict[str, tuple[int, int]]


class Encoded(NamedTuple):
    """The tokens of some utterances, one after another.

    ids      int32 (N,)
    labels   int8 (N,), or None
    pauses   float32 (N,), or None
    streams  (stream, tokens) for each run of utterances of one stream
    first    the first utterance's id; `last` the last one's
    """

    ids: np.ndarray
    labels: np.ndarray | None
    pauses: np.ndarray | None
    streams: list[tuple[str, int]]
    first: str
    last: str


def blocks(data: DataDir, names: Iterable[str], size: int) -> Iterator[Block]:
    """Cut the tables `names` of a data directory into blocks. Raises Irregular where one has more lines than `text`."""
    line = 1
    with ExitStack() as stack:
        files = {name: stack.enter_context(open_input(data.path / name)) for name in names}
        while True:
            starts = {name: file.tell() for name, file in files.items()}
            count = _skip_bytes(files["text"], size)
            if not count:
                break
            for name in files.keys() - {"text"}:
                _skip_lines(files[name], count)
            yield Block(line, {name: (start, files[name].tell() - start) for name, start in starts.items()})
            line += count
        if any(file.read(1) for file in files.values()):
            raise Irregular


def _skip_bytes(file, size: int) -> int:
    """Move over `size` bytes and on to the end of the line; returns the lines passed."""
    part = file.read(size)
    rest = file.readline() if len(part) == size and part[-1:] != b"\n" else b""
    return part.count(b"\n") + rest.count(b"\n") + ((rest or part)[-1:] not in (b"\n", b""))


def _skip_lines(file, count: int) -> None:
    """Move over `count` lines, or what there is of them."""
    start = file.tell()
    while count > 0 and (part := file.read(1 << 20)):
        ends = np.flatnonzero(np.frombuffer(part, np.uint8) == 10)
        if len(ends) >= count:
            start += int(ends[count - 1]) + 1
            break
        start, count = start + len(part), count - len(ends)
    file.seek(start)


def lines_of(path: Path, place: tuple[int, int]) -> list[str]:
    """The lines at a place of a table, fields parted by single blanks. Raises Irregular for bad bytes."""
    with open_input(path) as file:
        file.seek(place[0])
        part = file.read(place[1])
    if b"\r" in part or b"\0" in part:
        raise Irregular
    part = part.replace(b"\t", b" ").removesuffix(b"\n")
    while b"  " in part:
        part = part.replace(b"  ", b" ")
    try:
        return part.replace(b" \n", b"\n").removesuffix(b" ").decode().split("\n")
    except UnicodeDecodeError:
        raise Irregular from None


def rows_of(path: Path, place: tuple[int, int]) -> tuple[list[str], list[list[str]]]:
    """The keys and the fields of the lines at a place of a table."""
    rows = [line.split(" ") for line in lines_of(path, place)]
    return [row.pop(0) for row in rows], rows


def count(path: Path, block: Block) -> dict[str, int]:
    """How often each word stands in a block."""
    lines = lines_of(path / "text", block.places["text"])
    return dict(Counter(chain.from_iterable(line.split(" ")[1:] for line in lines)))


def encode(path: Path, ids: Callable, labels: dict[str, int], block: Block) -> Encoded:
    """Encode a block of the data directory `path`. Raises Irregular, and InputError for a pause that is not there."""
    rows = {name: rows_of(path / name, place) for name, place in block.places.items() if name != "pauses.scp"}
    keys, words = rows["text"]
    if not keys[0] or not all(starmap(lt, pairwise(keys))) or any(rows[name][0] != keys for name in rows):
        raise Irregular
    lengths, speakers = list(map(len, words)), rows["utt2spk"][1]
    if set(map(len, speakers)) != {1}:
        raise Irregular
    classes = pauses = None
    if "punct" in rows:
        if list(map(len, rows["punct"][1])) != lengths:
            raise Irregular
        classes = encode_labels(list(chain.from_iterable(rows["punct"][1])), labels)
    if "pauses.scp" in block.places:
        pauses = _read_pauses(path / "pauses.scp", block, keys, lengths)
    runs = runs_of(zip(map(itemgetter(0), speakers), lengths))
    if not all(a[0] < b[0] for a, b in pairwise(runs)):
        raise Irregular
    return Encoded(ids(list(chain.from_iterable(words))), classes, pauses, runs, keys[0], keys[-1])


def encode_labels(names: list[str], labels: dict[str, int]) -> np.ndarray:
    """The numbers of some labels, int8 (len(names),). Raises Irregular for one that is not in the set."""
    classes = np.fromiter(map(labels.get, names, repeat(-1)), np.int8, len(names))
    if (classes < 0).any():
        raise Irregular
    return classes


def runs_of(pairs: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """(stream, tokens) of each utterance → of each run of utterances of one stream."""
    return [(stream, sum(map(itemgetter(1), run))) for stream, run in groupby(pairs, itemgetter(0))]


def _read_pauses(index: Path, block: Block, keys: list[str], lengths: list[int]) -> np.ndarray:
    pairs = [line.partition(" ") for line in lines_of(index, block.places["pauses.scp"])]
    if [key for key, _, _ in pairs] != keys:
        raise Irregular
    with VectorReader(index) as vectors:
        pauses = [vectors.read(place, block.line + i) for i, (_, _, place) in enumerate(pairs)]
    if list(map(len, pauses)) != lengths:
        raise Irregular
    return np.concatenate(pauses)


def encode_by_time(data: DataDir, ids: Callable, labels: dict[str, int], batch: int = 1 << 13) -> Iterator[Encoded]:
    """Encode a data directory with `segments`, whose utterances are not in the order of the lines."""
    utterances = data.utterances()
    while part := list(islice(utterances, batch)):
        words = list(chain.from_iterable(u.words for u in part))
        names = list(chain.from_iterable(u.labels for u in part)) if data.has_labels else None
        pauses = np.concatenate([u.pauses for u in part]) if data.has_pauses else None
        yield Encoded(ids(words), None if names is None else encode_labels(names, labels), pauses,
                      runs_of((u.stream, len(u.words)) for u in part), part[0].id, part[-1].id)


def explain(data: DataDir, labels: LabelSet | None = None) -> InputError:
    """The error of a data directory in which a block was irregular. Reads it again from the start."""
    try:
        for _ in data.utterances():
            pass
    except InputError as error:
        return error
    for row in data.rows() if labels and data.has_labels else ():
        for name in fields(row["punct"].value):
            if name not in labels.names:
                return InputError(f"label '{name}' is not in the label set", f"it has {' '.join(labels.names)}",
                                  data.path / "punct", row["punct"].line)
    raise RuntimeError(f"{data.path} changed while it was read")


def in_order(function: Callable, tasks: Iterable, nj: int) -> Iterator:
    """`function` of each task, in the order of the tasks, by `nj` processes; a few tasks at a time are in memory."""
    tasks, waiting = iter(tasks), deque()
    few = list(islice(tasks, 2))
    if nj == 1 or len(few) < 2:  # a process takes longer to start than a block takes
        yield from map(function, chain(few, tasks))
        return
    context = multiprocessing.get_context("spawn")  # a fork is not safe beside another library's threads
    pool = ProcessPoolExecutor(nj, context, _start_worker, (function,))
    try:
        for task in chain(few, tasks):
            waiting.append(pool.submit(_work, task))
            if len(waiting) > 2 * nj:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _start_worker(function: Callable) -> None:
    """Keep the function, which may be large, for all tasks; leave Ctrl-C to the parent and end with it."""
    global _function
    _function = function
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()


def _work(task):
    return _function(task)
