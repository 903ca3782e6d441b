"""Stores that jobs make, in two rounds: they count words for a vocabulary, then encode with it.

In both, each job makes a part of its share of each set. The joined store is that of one job, byte for byte. Memory is
that of the counts, and otherwise flat.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from punc.base.errors import InputError
from punc.base.files import decode_line, open_input
from punc.base.jobs import Part, Share
from punc.data.block_reader import explain
from punc.data.datadir import DataDir
from punc.tokens.store import StorePlan, new_store
from punc.tokens.store_set import ARRAYS, SetCounts, arrays_of, finish_set, flat_file, write_share
from punc.tokens.tokenizer import Tokenizer
from punc.tokens.word_counts import is_count

HEADER = 128  # bytes of an npy file before its items


def join_counts(plan: StorePlan, parts: Sequence[Path], out: Path) -> None:
    """Make the vocabulary of a store from the counts of all jobs: the directory `out` is the store without its sets."""
    counts = plan.kind.read_counts(parts, plan.vocab_size)
    with new_store(out, plan) as tmp:
        plan.kind.learn(counts, plan.vocab_size, plan.min_count).write(tmp)


def read_counted(plan: StorePlan, path: Path) -> Tokenizer:
    """The tokenizer that `join_counts` has made. Raises InputError if it is of other data or options."""
    if not plan.finished(path):
        raise InputError("not the vocabulary of these data and options",
                         "count again: punc make-store --only count, punc join", path)
    return plan.kind.read(path / "vocab")


def write_store_share(plan: StorePlan, tokenizer: Tokenizer, part: Path, nj: int,
                      share: Share) -> dict[str, SetCounts]:
    """Write a share of each set to the directory `part`, with the tokenizer. Returns what each share has."""
    tokenizer.write(part)
    counts = {}
    for name, data in plan.sets.items():
        (part / name).mkdir()
        counts[name] = write_share(part / name, data, tokenizer, plan.label_set, nj, share)
    return counts


def join_store(plan: StorePlan, parts: Sequence[Part], out: Path) -> None:
    """Join the parts of all jobs to the store `out`.

    Raises InputError if a file of a part is broken, and for utterances that are not in order.
    """
    tokenizer = plan.kind.read(parts[0].path / "vocab")
    with new_store(out, plan) as tmp:
        tokenizer.write(tmp)
        for name, data in plan.sets.items():
            (tmp / name).mkdir()
            finish_set(tmp / name, data, tokenizer, _join_set(tmp / name, parts, data))


def _join_set(folder: Path, parts: Sequence[Part], data: DataDir) -> SetCounts:
    """Write the files of a set from those of the parts."""
    every = [(part, SetCounts(*part.result[folder.name])) for part in parts]
    full = [(part, counts) for part, counts in every if counts.streams]
    if not data.has_segments and any(one.last >= other.first for (_, one), (_, other) in pairwise(full)):
        raise explain(data)
    _join_arrays(folder, full, data)
    words, tokens, lost = (sum(numbers) for numbers in zip(*(counts[:3] for _, counts in every)))
    return SetCounts(words, tokens, lost, _join_index(folder, full, data), "", "")


def _join_arrays(folder: Path, parts: Sequence[tuple[Part, SetCounts]], data: DataDir) -> None:
    for name in arrays_of(data):
        with flat_file(folder / f"{name}.npy", ARRAYS[name]) as file:
            for part, counts in parts:
                path = part.path / folder.name / f"{name}.npy"
                with open_input(path) as source:
                    if os.fstat(source.fileno()).st_size != HEADER + counts.tokens * np.dtype(ARRAYS[name]).itemsize:
                        raise InputError(f"not {counts.tokens} numbers", part.again, path)
                    source.seek(HEADER)
                    shutil.copyfileobj(source, file, 1 << 20)


def _join_index(folder: Path, parts: Sequence[tuple[Part, SetCounts]], data: DataDir) -> int:
    """Write the index of a set; a stream that ends in a later part is one. Returns the number of streams.

    Streams are in order, as speakers and recordings are.
    """
    stream, start, length, streams = None, 0, 0, 0
    with open(folder / "index", "w", encoding="utf-8", newline="\n") as index:
        for name, tokens in _indices(folder.name, parts):
            if name == stream:
                length += tokens
                continue
            if stream is not None:
                if name < stream:
                    raise explain(data)
                index.write(f"{stream} {start} {length}\n")
            stream, start, length, streams = name, start + length, tokens, streams + 1
        if stream is not None:
            index.write(f"{stream} {start} {length}\n")
    return streams


def _indices(name: str, parts: Sequence[tuple[Part, SetCounts]]) -> Iterator[tuple[str, int]]:
    """The streams of all parts with their lengths."""
    for part, _ in parts:
        path, last = part.path / name / "index", None
        with open_input(path) as file:
            for number, line in enumerate(file, 1):
                stream, *numbers = decode_line(line, path, number).split(" ")
                if len(numbers) != 2 or not all(is_count(text.encode()) for text in numbers):
                    raise InputError("not STREAM OFFSET LENGTH", part.again, path, number)
                if last is not None and stream <= last:
                    raise InputError(f"'{stream}' comes after '{last}'", part.again, path, number)
                last = stream
                yield stream, int(numbers[1])
