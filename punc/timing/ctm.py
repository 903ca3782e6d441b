"""Timed words: CTM in and out.

CTM, a line a word: `id channel begin duration word [confidence [type [speaker]]]`, seconds. Kaldi writes no
confidence (get_train_ctm.sh) or one (lattice-to-ctm-conf); the id is an utterance and the times begin with it, or
the id is a recording's. NIST's has `;;` comments, `NA` for no confidence, and alternatives, of which the first counts.

What is mended and counted in `repairs`: lines of an id that are not in time order are sorted; words that overlap by
`max_overlap` seconds or less stay as they are (a recogniser that joins pieces of a recording writes such), and the
pause between them is 0. More than that, as two speakers under one id and channel have it, is an InputError.
"""

import functools
import itertools
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.files import atomic_file, decode_line, open_input
from punc.base.idtable import IdTable
from punc.data.tables import fields

CTM_SILENCE = frozenset(("<eps>", "<sil>", "<SIL>", "!SIL"))
MAX_OVERLAP = 1.0  # s; a real recogniser's CTM of 34 calls overlaps 300 times in 270,000 words, by 0.6 s at most
ROUNDING = 1e-6  # s; below it two times are the same


class TimedWord(NamedTuple):
    """A word of an utterance or a recording and its time in seconds; confidence None where there is none."""

    id: str
    channel: str
    begin: float
    duration: float
    word: str
    confidence: float | None = None


class Timing(NamedTuple):
    """The words of one id in time order, without silences; its end in seconds, None if unknown; where it stands."""

    words: list[TimedWord]
    end: float | None = None
    file: str | os.PathLike | None = None
    line: int | None = None


class CtmIndex(Mapping):
    """Every id of a CTM, or of the `*.ctm` of a directory, with a function that reads its timing.

    silence       the words that are silences
    max_overlap   seconds by which two words of an id and channel may overlap
    repairs       counts what was mended

    The function takes a channel, which matters for an id that has several. Memory: 56 bytes for each stretch of lines
    that belong to one id. Raises InputError where there are no words, and, when a function is called, for what
    `read_ctm` raises it, and where the channel is none of several.
    """

    def __init__(self, path: str | os.PathLike, silence: frozenset[str] = CTM_SILENCE,
                 max_overlap: float = MAX_OVERLAP, repairs: Counter | None = None):
        self._files = sorted(Path(path).glob("*.ctm")) if Path(path).is_dir() else [Path(path)]
        if not self._files:
            raise InputError("no *.ctm in this directory", "name a CTM, or a directory that has some", path)
        self._silence, self._max_overlap = silence, max_overlap
        self._repairs = Counter() if repairs is None else repairs
        self._places = IdTable(4)
        for id, place in self._scan():
            self._places.add(id, *place)
        self._repairs["ids with lines in several places"] += int((self._places.counts() > 1).sum())

    def _scan(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        for number, file in enumerate(self._files):
            for id, begin, end, line in _places(file):
                yield id, (number, begin, end, line)

    def __contains__(self, id: str) -> bool:
        return id in self._places

    def __getitem__(self, id: str) -> Callable[..., Timing]:
        if id not in self._places:
            raise KeyError(id)
        return functools.partial(self._read, id)

    def __iter__(self) -> Iterator[str]:
        """The ids in the order of the files, which are read again for this."""
        return (id for id, place in self._scan() if tuple(self._places.rows(id)[0]) == place)

    def __len__(self) -> int:
        return len(self._places.counts())

    def _read(self, id: str, channel: str | None = None) -> Timing:
        rows = []
        for number, begin, end, line in self._places.rows(id).astype(np.int64).tolist():
            path = self._files[number]
            with open_input(path) as file:
                file.seek(begin)
                lines = file.read(end - begin).splitlines(keepends=True)
            rows += [(number, row) for number, row in ctm_rows(enumerate(lines, line), path) if row.id == id]
        channels = {row.channel for _, row in rows}
        if len(channels) > 1:
            first = rows[0][0]
            rows = [(number, row) for number, row in rows if row.channel == channel]
            if not rows:
                raise InputError(f"'{id}' has channels {' '.join(sorted(channels))} under one id",
                                 "say in reco2file_and_channel which one a recording is", path, first)
        return _in_order(rows, path, self._silence, self._max_overlap, self._repairs)


def read_ctm(path: str | os.PathLike, silence: frozenset[str] = CTM_SILENCE, max_overlap: float = MAX_OVERLAP,
             repairs: Counter | None = None) -> Iterator[tuple[str, str, Timing]]:
    """Read a CTM as (id, channel, timing), one at a time; lines of one id and channel have to stand together.

    Raises InputError for a missing or empty file, too few or many columns, what is no number, negative times and
    durations, an overlap longer than `max_overlap` seconds, bytes that are not UTF-8, CR, NUL.
    """
    repairs = Counter() if repairs is None else repairs
    with open_input(path) as file:
        rows = ctm_rows(enumerate(file, 1), path)
        for (id, channel), group in itertools.groupby(rows, key=lambda row: row[1][:2]):
            yield id, channel, _in_order(list(group), path, silence, max_overlap, repairs)


def _places(path: Path) -> Iterator[tuple[str, int, int, int]]:
    """Each id of a CTM with a stretch of its lines: first byte, end byte, number of the first line."""
    key, begin, first, position = b"", 0, 1, 0
    with open_input(path) as file:
        for number, line in enumerate(file, 1):
            this = line.split(None, 1)[0] if not line.isspace() and not line.startswith(b";;") else key
            if this != key:
                if key:
                    yield decode_line(key, path, first), begin, position, first
                key, begin, first = this, position, number
            position += len(line)
    if not key:
        raise InputError("the file has no timed words", "make it again", path)
    yield decode_line(key, path, first), begin, position, first


def ctm_rows(lines: Iterable[tuple[int, bytes]], path: str | os.PathLike) -> Iterator[tuple[int, TimedWord]]:
    """The words of a CTM's lines, silences too, with their line numbers; only the first of NIST's alternatives."""
    later, number = False, 0
    for number, line in lines:
        columns = fields(decode_line(line, path, number))
        if not columns or columns[0].startswith(";;"):
            continue
        if not 5 <= len(columns) <= 8:
            raise InputError(f"{len(columns)} columns", "write: id channel begin duration word [confidence]",
                             path, number)
        id, channel, begin, duration, word = columns[:5]
        if word in ("<ALT_BEGIN>", "<ALT>", "<ALT_END>"):
            later = word == "<ALT>"
            continue
        if later:
            continue
        confidence = None if len(columns) < 6 or columns[5] == "NA" else _number(columns[5], "confidence", path, number)
        yield number, TimedWord(id, channel, seconds(begin, "begin", path, number),
                                seconds(duration, "duration", path, number), word, confidence)
    if not number:
        raise InputError("the file is empty", "make it again", path)


def _number(text: str, what: str, path: str | os.PathLike, line: int) -> float:
    try:
        number = float(text.replace("_", "x"))  # Python takes 1_000 for a number, nobody else does
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"the {what} '{text[:20]}' is no number", "write one, as 1.25", path, line)
    return number


def seconds(text: str, what: str, path: str | os.PathLike, line: int) -> float:
    """A time as it is written in a file. Raises InputError where it is none, or negative."""
    time = _number(text, what, path, line)
    if time < 0:
        raise InputError(f"the {what} {text[:20]} is negative", "count from the start of the recording", path, line)
    return time


def _in_order(rows: list[tuple[int, TimedWord]], path: str | os.PathLike, silence: frozenset[str],
              max_overlap: float, repairs: Counter) -> Timing:
    """The words of one id and channel in time order without silences; overlaps are counted, long ones an error."""
    begins = np.array([row.begin for _, row in rows])
    backward = int(np.count_nonzero(np.diff(begins) < 0))
    if backward:
        repairs["lines that were not in time order"] += backward
        rows = [rows[i] for i in np.argsort(begins, kind="stable")]
    first, last = (rows[0][0], rows[-1][1]) if rows else (None, None)
    end = last.begin + last.duration if last and last.word in silence else None
    rows = [(number, row) for number, row in rows if row.word not in silence]
    ends = np.array([row.begin + row.duration for _, row in rows])
    overlaps = ends[:-1] - np.array([row.begin for _, row in rows[1:]])
    if (overlaps > max_overlap + ROUNDING).any():
        number, row = rows[int(np.argmax(overlaps > max_overlap + ROUNDING)) + 1]
        raise InputError(f"at {row.begin:.2f} s a word of '{row.id}' overlaps the one before by more than "
                         f"{max_overlap:g} s", "give each speaker a channel, or raise --max-overlap", path, number)
    repairs["overlapping words"] += int(np.count_nonzero(overlaps > ROUNDING))
    return Timing([row for _, row in rows], end, path, first)


def write_ctm(path: str | os.PathLike, words: Iterable[TimedWord]) -> None:
    """Write words as a CTM, in the order given: times and confidences to a microsecond, two decimals at least."""
    with atomic_file(path) as file:
        for id, channel, begin, duration, word, confidence in words:
            times = f"{id} {channel} {decimals(begin)} {decimals(duration)} {word}"
            file.write(f"{times}\n" if confidence is None else f"{times} {decimals(confidence)}\n")


def decimals(value: float) -> str:
    """A time or a confidence as it is written: to a microsecond, two decimals at least."""
    whole, _, fraction = f"{value:.6f}".partition(".")
    return f"{whole}.{fraction.rstrip('0'):0<2}"
