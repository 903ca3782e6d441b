"""Reads and writes the sets of a store. A set is a data directory as arrays; the module `store` lists its files."""

import contextlib
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.files import open_input
from punc.base.parallel import map_ordered
from punc.data.block_reader import ENCODE_BYTES, Encoded, Irregular, encode_block, encode_by_time, explain, line_blocks
from punc.data.datadir import DataDir
from punc.data.labels import LabelSet
from punc.data.tables import TURNS
from punc.tokens.tokenizer import Tokenizer
from punc.tokens.vocabulary import END

logger = logging.getLogger(__name__)
CHECKED = 1 << 18  # the number of items that are checked at once
COPIED = 1 << 22  # the number of items that are copied at once
UNKNOWN = {"pauses": np.nan, "turns": False}  # the values in a joined set where a member lacks the array
ARRAYS: dict[str, type] = {"ids": np.int32, "labels": np.int8, "pauses": np.float32, "turns": np.bool_}  # NAME.npy
SET_FILES = (*(f"{name}.npy" for name in ARRAYS), "index")


class StoreSet(NamedTuple):
    """A set of a store. The arrays are memory-mapped and read-only. A missing array is None."""

    ids: np.ndarray  # int32 (N,)
    labels: np.ndarray | None  # int8 (N,); -1: no slot after the token
    pauses: np.ndarray | None  # float32 (N,) in seconds; NaN: unknown
    streams: Iterable[str]  # the names of the streams
    offsets: np.ndarray  # int64 (streams + 1,): stream i is [offsets[i]:offsets[i + 1]] of the arrays
    turns: np.ndarray | None = None  # bool (N,), whether the next word has a different speaker


class Lazy:
    """An array (N, …) whose items are computed only when they are read: `make(index)` returns those at a NumPy
    index."""

    def __init__(self, shape: tuple[int, ...], make: Callable[[Any], np.ndarray]):
        self.shape, self._make = shape, make

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> np.ndarray:
        return self._make(index)


class StreamNames:
    """Yields the names of the streams of a set. Each loop reads them from the file `index`, because there may be
    too many for memory."""

    def __init__(self, index: Path):
        self._index = index

    def __iter__(self) -> Iterator[str]:
        for name, _, _ in _index_rows(self._index):
            yield name


def read_set(folder: Path) -> StoreSet:
    """Open a set. Raises InputError if files are truncated or do not fit together."""
    ids = _open_array(folder / "ids.npy", np.int32)
    labels, pauses, turns = (_open_array(folder / f"{name}.npy", ARRAYS[name])
                             if (folder / f"{name}.npy").exists() else None for name in ("labels", "pauses", "turns"))
    starts, lengths = _read_index(folder / "index")
    offsets = np.append(starts, len(ids))
    fit = all(len(array) == len(ids) for array in (labels, pauses, turns) if array is not None)
    if not fit or not len(starts) or starts[0] or not np.array_equal(np.diff(offsets), lengths) or lengths.min() < 0:
        raise InputError("its files do not fit together", "make the store again: punc make-store", folder)
    return StoreSet(ids, labels, pauses, StreamNames(folder / "index"), offsets, turns)


def _read_index(path: Path) -> tuple[np.ndarray, np.ndarray]:
    try:
        numbers = np.fromiter(chain.from_iterable(map(itemgetter(1, 2), _index_rows(path))), np.int64)
        return numbers[::2], numbers[1::2]
    except (ValueError, OverflowError):
        raise InputError("the lines are not STREAM OFFSET LENGTH",
                         "make the store again: punc make-store", path) from None


def _index_rows(path: Path) -> Iterator[tuple[str, int, int]]:
    with open_input(path) as file:
        for line in file:
            name, start, length = line.split(b" ")
            yield name.decode(), int(start), int(length)


def _open_array(path: Path, kind: type) -> np.memmap:
    again = "make the store again: punc make-store"
    with open_input(path, again):  # raises InputError if the file is unreadable
        pass
    with contextlib.suppress(Exception):  # np.load raises various exceptions for broken files
        array = np.load(path, mmap_mode="r")
        if isinstance(array, np.memmap) and array.dtype == kind and array.ndim == 1:
            return array
    raise InputError(f"not a flat {np.dtype(kind)} array, or truncated", again, path)


def check_numbers(folder: Path, vocabulary: int, labels: int) -> None:
    """Raise InputError if a token or a label of a set is out of range."""
    for name, kind, least, most in (("ids.npy", np.int32, 0, vocabulary), ("labels.npy", np.int8, -1, labels)):
        if (folder / name).exists():
            array = _open_array(folder / name, kind)
            with open_input(folder / name) as file:  # not mapped, because mapped pages would count as memory in use
                file.seek(array.offset)
                for begin in range(0, len(array), CHECKED):
                    block = np.fromfile(file, kind, min(CHECKED, len(array) - begin))
                    if block.min() < least or block.max() >= most:
                        raise InputError(f"a number that is not from {least} to {most - 1}",
                                         "make the store again: punc make-store", folder / name)


def write_set(folder: Path, data: DataDir, tokenizer: Tokenizer, labels: LabelSet, nj: int = 1) -> None:
    """Write a set to a new directory. The result does not depend on `nj`. Only a few blocks are in memory at a time.
    Raises InputError if the data directory has errors or no words."""
    folder.mkdir()
    classes = {name: number for number, name in enumerate(labels.names)}
    if data.has_segments:
        parts = encode_by_time(data, tokenizer.encode, classes)
    else:
        names = [name for name in ("text", "utt2spk", "punct", "pauses.scp", TURNS) if (data.path / name).is_file()]
        blocks = line_blocks(data, names, ENCODE_BYTES)
        parts = map_ordered(partial(encode_block, data.path, tokenizer.encode, classes), blocks, nj)
    try:
        counts = _write_parts(folder, parts, data)
    except Irregular:
        raise explain(data, labels) from None
    if not counts["words"]:
        raise InputError("the set has no words", "a set of a store has at least one", data.path / "text")
    if tokenizer.ends_with_end:
        starts, lengths = _read_index(folder / "index")
        ids = np.load(folder / "ids.npy", mmap_mode="r+")
        ids[(starts + lengths - 1)[lengths > 0]] = END
        ids.flush()
    percent = 100 * counts["lost"] / counts["tokens"]
    logger.info("%s: %s", folder.name, tokenizer.summary.format(**counts, percent=percent))


def _write_parts(folder: Path, parts: Iterable[Encoded], data: DataDir) -> dict[str, int]:
    total = words = lost = streams = start = 0
    stream, key = None, ""
    with contextlib.ExitStack() as stack:
        exist = {"ids": True, "labels": data.has_labels, "pauses": data.has_pauses, "turns": data.has_turns}
        files = {name: stack.enter_context(flat_file(folder / f"{name}.npy", kind)) for name, kind in ARRAYS.items()
                 if exist[name]}
        index = stack.enter_context(open(folder / "index", "w", encoding="utf-8", newline="\n"))
        for part in parts:
            if not data.has_segments and (part.first <= key or part.streams[0][0] < (stream or "")):
                raise Irregular
            key = part.last
            for name, file in files.items():
                file.write(getattr(part, name).data)
            words += part.words
            lost += part.lost
            for name, tokens in part.streams:
                if name != stream and stream is not None:
                    index.write(f"{stream} {start} {total - start}\n")
                if name != stream:
                    stream, start, streams = name, total, streams + 1
                total += tokens
        if stream is not None:
            index.write(f"{stream} {start} {total - start}\n")
    return {"words": words, "tokens": total, "lost": lost, "streams": streams}


def join_sets(store: Path, name: str, members: Sequence[str]) -> None:
    """Join sets of a store (`members`) into a new set. If only some members have pauses or turns, the others get the
    values UNKNOWN. Raises InputError if only some members have labels."""
    sets = [read_set(store / member) for member in members]
    labelled = [data.labels is not None for data in sets]
    if any(labelled) != all(labelled):
        raise InputError(f"'{members[labelled.index(False)]}' has no labels, but other sets of '{name}' have labels",
                         "join sets that all have labels, or none")
    folder = store / name
    folder.mkdir()
    for array, kind in ARRAYS.items():
        if any(getattr(data, array) is not None for data in sets):
            with flat_file(folder / f"{array}.npy", kind) as file:
                for data in sets:
                    _copy_array(getattr(data, array), len(data.ids), array, file)
    with open(folder / "index", "w", encoding="utf-8", newline="\n") as index:
        start = 0
        for data in sets:
            for stream, begin, end in zip(data.streams, data.offsets, data.offsets[1:]):
                index.write(f"{stream} {start + begin} {end - begin}\n")
            start += len(data.ids)


def _copy_array(array: np.ndarray | None, size: int, name: str, file: IO[bytes]) -> None:
    for begin in range(0, size, COPIED):
        end = min(begin + COPIED, size)
        file.write((np.full(end - begin, UNKNOWN[name], ARRAYS[name]) if array is None else array[begin:end]).data)


@contextlib.contextmanager
def flat_file(path: Path, kind: type, columns: int = 0) -> Iterator[IO[bytes]]:
    """Open a new npy file, to which a flat array, or a table with `columns` columns, can be written in portions."""
    def write_header(items: int) -> None:
        facts = {"descr": np.lib.format.dtype_to_descr(np.dtype(kind)), "fortran_order": False,
                 "shape": (items // columns, columns) if columns else (items,)}
        np.lib.format.write_array_header_1_0(file, facts)

    with open(path, "wb") as file:
        write_header(0)
        begin = file.tell()
        yield file
        items = (file.tell() - begin) // np.dtype(kind).itemsize
        file.seek(0)
        write_header(items)  # overwrites the first header; NumPy pads both to the same length
