"""Reads and writes CTM: timed words.

A CTM has a word on each line: `id channel begin duration word [confidence [type [speaker]]]`, in seconds. Kaldi writes
no confidence (get_train_ctm.sh) or one (lattice-to-ctm-conf). The id is an utterance, and the times count from its
start, or the id is a recording. NIST's CTMs also have `;;` comments, `NA` for no confidence, and alternatives.

Repairs, each counted: lines of an id that are not in time order are sorted. Of alternatives the first is used. Words
that overlap by at most MAX_OVERLAP seconds stay as they are, and the pause between them is 0 (ASR systems that join
parts of a recording write such words). A longer overlap, as of two speakers under one id and channel, is an InputError.
"""

import functools
import itertools
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from punc.base.errors import InputError
from punc.base.files import atomic_file, decode_line, open_input
from punc.base.idtable import IdTable
from punc.data.datadir import LATEST
from punc.data.tables import fields
from punc.timing.timed_words import TimedWord, Timing

CTM_SILENCE = frozenset(("<eps>", "<sil>", "<SIL>", "!SIL"))
MAX_OVERLAP = 1.0  # s; in a real CTM of 34 calls, 300 of 270,000 words overlap, by 0.6 s at most
ROUNDING = 1e-6  # s; times that differ by less are the same
CONTROLS = bytes({*range(32), 127}.difference(b"\t\n"))  # characters that have no place in a CTM
KEY = re.compile(rb"[ \t]*([^ \t\n]+)")


class CtmIndex(Mapping[str, Callable[..., Timing]]):
    """Every id of a CTM, or of the `*.ctm` of a directory, with a function that reads its timing.

    repairs   counts the repairs

    The function takes the channel of an id that has several. Memory: 56 bytes for each stretch of lines with one id.
    Raises InputError if there are no words. The function raises InputError as `read_ctm` does, and if the id has
    several channels, but not the one given.
    """

    def __init__(self, path: str | os.PathLike[str], repairs: Counter[str] | None = None):
        self._files = sorted(Path(path).glob("*.ctm")) if Path(path).is_dir() else [Path(path)]
        if not self._files:
            raise InputError("no *.ctm in this directory", "name a CTM, or a directory with some", path)
        for file in self._files:
            if file.exists() and not file.is_file():
                raise InputError("not a file", "write the CTM to a file: it is read twice", file)
        self._repairs: Counter[str] = Counter() if repairs is None else repairs
        self._stretches = IdTable(4)
        for id, stretch in self._scan():
            self._stretches.add(id, *stretch)
        self._repairs["ids with lines in several places"] += int((self._stretches.counts() > 1).sum())

    def _scan(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        for number, file in enumerate(self._files):
            for id, begin, end, line in _stretches(file):
                yield id, (number, begin, end, line)

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and id in self._stretches

    def __getitem__(self, id: str) -> Callable[..., Timing]:
        if id not in self._stretches:
            raise KeyError(id)
        return functools.partial(self._read, id)

    def __iter__(self) -> Iterator[str]:
        """The ids in the order of the files, which are read again."""
        return (id for id, stretch in self._scan() if tuple(self._stretches.rows(id)[0]) == stretch)

    def __len__(self) -> int:
        return len(self._stretches.counts())

    def size(self, id: str) -> int:
        """The bytes of an id's lines."""
        return int((self._stretches.rows(id)[:, 2] - self._stretches.rows(id)[:, 1]).sum())

    def _read(self, id: str, channel: str | None = None) -> Timing:
        rows: list[tuple[int, TimedWord]] = []
        for number, begin, end, line in self._stretches.rows(id).astype(np.int64).tolist():
            path = self._files[number]
            with open_input(path) as file:
                file.seek(begin)
                lines = file.read(end - begin).splitlines(keepends=True)
            rows += ctm_rows(enumerate(lines, line), path, self._repairs)
        channels = {row.channel for _, row in rows}
        if len(channels) > 1:
            first = rows[0][0]
            rows = [(number, row) for number, row in rows if row.channel == channel]
            if not rows:
                raise InputError(f"'{id}' has channels {' '.join(sorted(channels))} under one id",
                                 "say in reco2file_and_channel which one a recording is", path, first)
        return _timing(rows, path, self._repairs)


def read_ctm(path: str | os.PathLike[str],
             repairs: Counter[str] | None = None) -> Iterator[tuple[str, str, Timing]]:
    """Read a CTM as (id, channel, timing), one at a time; lines of one id and channel must be next to each other.

    Raises InputError for a missing or empty file, too few or too many columns, a time or confidence that is not a
    number, negative times and durations, an overlap longer than MAX_OVERLAP seconds, bytes that are not UTF-8, CR and
    NUL.
    """
    repairs = Counter[str]() if repairs is None else repairs
    with open_input(path) as file:
        rows = ctm_rows(enumerate(file, 1), path, repairs)
        for (id, channel), group in itertools.groupby(rows, key=lambda row: row[1][:2]):
            yield id, channel, _timing(list(group), path, repairs)


def _stretches(path: Path) -> Iterator[tuple[str, int, int, int]]:
    """Each id of a CTM with a stretch of its lines: first byte, end byte, and number of the first line."""
    id, key, begin, first, position = "", b"", 0, 1, 0
    with open_input(path) as file:
        for number, line in enumerate(file, 1):
            found = KEY.match(line)
            this = found[1] if found and not found[1].startswith(b";;") else key
            if this != key:
                if key:
                    yield id, begin, position, first
                id, key, begin, first = _text(this, path, number), this, position, number
            position += len(line)
    if not key:
        raise InputError("the file has no timed words", "make it again", path)
    yield id, begin, position, first


def _text(line: bytes, path: str | os.PathLike[str], number: int) -> str:
    """A line, or part of one, as text. Raises InputError for control characters and bytes that are not UTF-8."""
    text = decode_line(line, path, number)
    if len(line.translate(None, CONTROLS)) < len(line):
        raise InputError("a control character", "remove it: the file is not text, or is broken", path, number)
    return text


def ctm_rows(lines: Iterable[tuple[int, bytes]], path: str | os.PathLike[str],
             repairs: Counter[str] | None = None) -> Iterator[tuple[int, TimedWord]]:
    """The words of a CTM's lines with their line numbers, silences included; counts later alternatives in `repairs`."""
    repairs = Counter[str]() if repairs is None else repairs
    begun, later, number = 0, False, 0  # the line where alternatives begin, 0 outside; whether these are later ones
    for number, line in lines:
        columns = fields(_text(line, path, number))
        if not columns or columns[0].startswith(";;"):
            continue
        if not 5 <= len(columns) <= 8:
            raise InputError(f"{len(columns)} columns", "write: id channel begin duration word [confidence]",
                             path, number)
        id, channel, begin, duration, word = columns[:5]
        if word in ("<ALT_BEGIN>", "<ALT>", "<ALT_END>"):
            begun, later = 0 if word == "<ALT_END>" else begun or number, word == "<ALT>"
            continue
        if later:
            repairs["words of later alternatives, left out"] += 1
            continue
        confidence = None if len(columns) < 6 or columns[5] == "NA" else _number(columns[5], "confidence", path, number)
        yield number, TimedWord(id, channel, seconds(begin, "begin", path, number),
                                seconds(duration, "duration", path, number), word, confidence)
    if begun:
        raise InputError("alternatives without an end", "write a line <ALT_END> after them", path, begun)
    if not number:
        raise InputError("the file is empty", "make it again", path)


def _number(text: str, what: str, path: str | os.PathLike[str], line: int) -> float:
    try:
        number = float(text.replace("_", "x"))  # only Python reads 1_000 as a number
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"the {what} '{text[:20]}' is not a number", "write one, as 1.25", path, line)
    return number


def seconds(text: str, what: str, path: str | os.PathLike[str], line: int) -> float:
    """A time as written in a file. Raises InputError if it is not a number, negative, or later than LATEST."""
    time = _number(text, what, path, line)
    if time >= LATEST:
        raise InputError(f"the {what} {text[:20]} is no time of a recording", "write seconds", path, line)
    if time < 0:
        raise InputError(f"the {what} {text[:20]} is negative", "count from the start of the recording", path, line)
    return time


def _timing(rows: list[tuple[int, TimedWord]], path: str | os.PathLike[str], repairs: Counter[str]) -> Timing:
    """The timing of one id and channel. Counts repairs; raises InputError for an overlap above MAX_OVERLAP."""
    begins = np.array([row.begin for _, row in rows])
    backward = int(np.count_nonzero(np.diff(begins) < 0))
    if backward:
        repairs["lines that were not in time order"] += backward
        rows = [rows[i] for i in np.argsort(begins, kind="stable")]
    first, last = (rows[0][0], rows[-1][1]) if rows else (None, None)
    end = last.begin + last.duration if last and last.word in CTM_SILENCE else None
    rows = [(number, row) for number, row in rows if row.word not in CTM_SILENCE]
    ends = np.array([row.begin + row.duration for _, row in rows])
    overlaps = ends[:-1] - np.array([row.begin for _, row in rows[1:]])
    if (overlaps > MAX_OVERLAP + ROUNDING).any():
        number, row = rows[int(np.argmax(overlaps > MAX_OVERLAP + ROUNDING)) + 1]
        raise InputError(f"at {row.begin:.2f} s a word of '{row.id}' overlaps the one before by more than "
                         f"{MAX_OVERLAP:g} s", "give each speaker a channel", path, number)
    repairs["overlapping words"] += int(np.count_nonzero(overlaps > ROUNDING))
    return Timing([row for _, row in rows], end, path, first)


def write_ctm(path: str | os.PathLike[str], words: Iterable[TimedWord]) -> None:
    """Write words as a CTM, in the order given, with times and confidences as `decimals` writes them."""
    with atomic_file(path) as file:
        for id, channel, begin, duration, word, confidence in words:
            times = f"{id} {channel} {decimals(begin)} {decimals(duration)} {word}"
            file.write(f"{times}\n" if confidence is None else f"{times} {decimals(confidence)}\n")


def decimals(value: float) -> str:
    """A time or a confidence as text: up to six decimals, at least two."""
    whole, _, fraction = f"{value:.6f}".partition(".")
    return f"{whole}.{fraction.rstrip('0'):0<2}"
