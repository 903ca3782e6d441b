"""Reads and writes Kaldi's text tables: UTF-8 lines `key value …`, with unique keys, in C-locale order.

Also reads and writes the table `turns`. Its lines `UTTERANCE 0 0 1 0 …` have a flag for each word: 1 if another speaker
says the next word of the stream, even if that word is in another utterance. The flag of a stream's last word is 0.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from punc.base.errors import InputError, StrPath
from punc.base.files import atomic_dir, atomic_file, decoded_lines, open_input, read_blocks
from punc.base.runs import bounds_of

# Kaldi refuses texts in which `grep -w` finds <s>, </s> or #0.
FORBIDDEN = re.compile(r"(?<![A-Za-z0-9_])(?:</?s>|#0)(?![A-Za-z0-9_])")


class Row(NamedTuple):
    """A line of a table: its number (from 1), its key, and the rest of the line without the line end."""

    line: int
    key: str
    value: str


def fields(value: str) -> list[str]:
    """Split a line at spaces and tabs only: Kaldi treats other blanks, such as ideographic spaces, as letters."""
    parts = value.replace("\t", " ").split(" ") if "\t" in value else value.split(" ")
    return [part for part in parts if part] if "" in parts else parts


def read_table(path: StrPath, sort: bool = True) -> Iterator[Row]:
    """Yield the rows of a table. Raises InputError for a missing or empty file, a line without a key, and invalid
    bytes. If `sort` is true, also raises InputError unless the keys are unique and in C-locale order."""
    last, number = b"", 0
    for number, line in decoded_lines(path):
        key, _, value = line.replace("\t", " ", 1).partition(" ")
        if not key:
            raise InputError("a line without a key", "begin the line with an id, not with a space", path, number)
        if sort:
            this = key.encode()
            if this == last:
                raise InputError(f"'{key}' occurs twice", "keep one line for each id", path, number)
            if this < last:
                raise InputError(f"'{key}' is out of order", "sort it: LC_ALL=C sort -u", path, number)
            last = this
        yield Row(number, key, value)
    if not number:
        raise InputError("the file is empty", "make it again", path)


def count_blanks(path: StrPath) -> int:
    """Return the number of blanks in a table `text`. It equals the number of words if one blank precedes each word."""
    return sum(block.count(b" ") + block.count(b"\t") for block in read_blocks(path))


def line_offsets(path: StrPath) -> np.ndarray:
    """Return the byte offset of each line of a file, int64 (lines,)."""
    with open_input(path) as file:
        return bounds_of(np.fromiter(map(len, file), np.int64))[:-1]


def sort_table(path: StrPath) -> None:
    """Sort a table by key in C-locale order, in place. Memory holds the keys, but not the rest of the lines."""
    offsets = line_offsets(path)
    with open_input(path) as file, atomic_file(path, "wb") as output:
        order = sorted(range(len(offsets)), key=[line.split(b" ", 1)[0].rstrip(b"\n") for line in file].__getitem__)
        for i in order:
            file.seek(offsets[i])
            output.write(file.readline())


TURNS = "turns"
FLAGS = ("0", "1")


def parse_turns(row: Row, path: StrPath) -> np.ndarray:
    """Return the flags in a row of `turns`, bool (words,). Raises InputError for a flag that is neither 0 nor 1."""
    flags = fields(row.value)
    if wrong := next((flag for flag in flags if flag not in FLAGS), None):
        raise InputError(f"'{wrong}' is not 0 or 1", "write 1 after the last word of a turn, else 0", path,
                         row.line)
    return np.array(flags, "U1") == "1"


def turns_line(id: str, turns: np.ndarray) -> bytes:
    return " ".join((id, *np.where(turns, *reversed(FLAGS)).tolist())).encode() + b"\n"


def ends_of_turns(speakers: Sequence[Any]) -> np.ndarray:
    """Mark each word after which the speaker changes, bool (words,). None stands for an unknown speaker. If words of
    unknown speakers lie between words of two different speakers, the last word before the second speaker is marked."""
    known = np.array([i for i, speaker in enumerate(speakers) if speaker is not None], np.int64)
    ends = np.zeros(len(speakers), bool)
    ends[[after - 1 for before, after in pairwise(known.tolist()) if speakers[before] != speakers[after]]] = True
    return ends


def write_turns(directory: StrPath, turns: Iterable[tuple[str, np.ndarray]]) -> None:
    """Write the table `turns` of a data directory, completely or not at all. Sorts the utterances."""
    with atomic_dir(directory, TURNS) as tmp:
        with open(tmp / TURNS, "wb") as file:
            file.writelines(turns_line(id, flags) for id, flags in turns)
        sort_table(tmp / TURNS)
