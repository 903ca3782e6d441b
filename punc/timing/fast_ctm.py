"""Reads CTMs fast: finds the lines of each id, and reads many lines as columns, with no Python step per column.

For programs that write the words again with their old times and confidences. `ctm` reads lines that are not in Kaldi's
form (comments, alternatives, different numbers of columns), or that fail a check; it also says what is wrong. Unlike in
`ctm`, lines must be in time order, since they are written again in the order of reading.
"""

import os
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, repeat
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.files import decode_line, open_input
from punc.base.runs import bounds_of
from punc.data.datadir import LATEST
from punc.data.tables import fields
from punc.transcripts.ctm import CONTROLS, CTM_SILENCE, MAX_OVERLAP, ROUNDING, ctm_rows

SCAN_BYTES = 1 << 20  # bytes to scan at a time for the lines of each id
BATCH_LINES = 1 << 14  # lines to split into columns at a time: few enough for the processor's cache
LINE_START = re.compile(rb"[^\s;]\S* +\S+ ")  # id and channel
STRANGE = b";;", b"<ALT"  # if lines have one of these, or a control character, `ctm` reads them


class Run(NamedTuple):
    """Successive lines of one id and channel: bytes [begin, end) of the file, and `lines` lines from number `line`."""

    id: str
    channel: str
    begin: int
    end: int
    line: int
    lines: int


class Columns(NamedTuple):
    """Lines of a CTM as columns, silences included; begins and durations in seconds, the others as in `TimedLines`."""

    heads: list[bytes]
    words: list[str]
    tails: list[bytes]
    begins: np.ndarray
    durations: np.ndarray


class TimedLines(NamedTuple):
    """The words of N lines of a CTM, without silences, in K groups of runs.

    heads    id, channel, begin and duration of each line
    words    the words
    tails    the rest of each line after the word, with a blank before it; empty if there is none
    begins   float64 (N,), seconds, as in the CTM
    ends     float64 (N,), seconds
    bounds   int64 (K+1,): words [bounds[k], bounds[k+1]) are those of group k
    closes   float64 (K,), seconds: the end of the silence that ends a group; NaN if a word ends it
    """

    heads: list[bytes]
    words: list[str]
    tails: list[bytes]
    begins: np.ndarray
    ends: np.ndarray
    bounds: np.ndarray
    closes: np.ndarray


class CtmFile:
    """A CTM that is open for reading; `repairs` counts what `ctm` does. Raises InputError if it is missing."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path, self.repairs = path, Counter[str]()
        with open_input(path):
            self._file = open(path, "rb")  # noqa: SIM115 (closed by close)

    def __enter__(self) -> "CtmFile":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def runs(self) -> Iterator[Run]:
        """The runs of the file, in its order; comments belong to the run before them.

        Raises InputError if there are no words.
        """
        self._file.seek(0)
        at, number, last, last_key = 0, 1, None, [b""]
        while lines := self._file.readlines(SCAN_BYTES):
            done = 0
            while done < len(lines):
                key, count = lines[done].split(None, 2)[:2], _same(lines, done)
                size = sum(map(len, lines[done:done + count]))
                if key and not key[0].startswith(b";;") and key != last_key:
                    if last:
                        yield last
                    id, channel = self._id_and_channel(lines[done], number)
                    last, last_key = Run(id, channel, at, at + size, number, count), key
                elif last:
                    last = last._replace(end=at + size, lines=number + count - last.line)
                at, number, done = at + size, number + count, done + count
        if not last:
            raise InputError("the file has no timed words", "make it again", self.path)
        yield last

    def _id_and_channel(self, line: bytes, number: int) -> tuple[str, str]:
        """The first two columns of a line. Raises InputError if there is only one."""
        columns = line.split(None, 2)
        if len(columns) < 2:
            deque(ctm_rows([(number, line)], self.path), maxlen=0)  # says what is wrong
        return decode_line(columns[0], self.path, number), decode_line(columns[1], self.path, number)

    def read(self, groups: Sequence[Sequence[Run]]) -> TimedLines:
        """The words of some groups of runs; a group is an utterance or a recording.

        Raises InputError as `ctm.read_ctm` does, and for a group that is not in time order.
        """
        heads: list[bytes] = []
        words: list[str] = []
        tails: list[bytes] = []
        parts, counts = [], np.zeros(len(groups), np.int64)
        runs = ((number, run) for number, group in enumerate(groups) for run in group)
        for batch in _batches(runs):
            columns, numbers, of_run = self._columns_of([run for _, run in batch])
            heads += columns.heads
            words += columns.words
            tails += columns.tails
            parts.append((columns.begins, columns.durations, numbers))
            np.add.at(counts, [number for number, _ in batch], of_run)
        times = [np.concatenate(part) for part in zip(*parts)] or np.zeros((3, 0))
        return self._checked(Columns(heads, words, tails, *times[:2]), times[2], bounds_of(counts))

    def _columns_of(self, runs: list[Run]) -> tuple[Columns, np.ndarray, list[int]]:
        """The columns of some runs, the number of each line, and how many lines each run has."""
        texts = [self._text(run) for run in runs]
        if columns := _columns(b"".join(texts)):
            numbers = [np.arange(run.line, run.line + run.lines) for run in runs]
            return columns, np.concatenate(numbers), [run.lines for run in runs]
        return self._line_by_line(runs, texts)

    def _text(self, run: Run) -> bytes:
        self._file.seek(run.begin)
        text = self._file.read(run.end - run.begin)
        return text if text.endswith(b"\n") else text + b"\n"

    def _line_by_line(self, runs: list[Run], texts: list[bytes]) -> tuple[Columns, np.ndarray, list[int]]:
        rows: list[tuple[bytes, str, bytes, float, float]] = []
        numbers, counts = [], []
        for run, text in zip(runs, texts):
            lines, before = text.splitlines(keepends=True), len(rows)
            for number, row in ctm_rows(enumerate(lines, run.line), self.path, self.repairs):
                columns = fields(decode_line(lines[number - run.line], self.path, number))
                tail = "".join(f" {column}" for column in columns[5:])
                rows.append((" ".join(columns[:4]).encode(), row.word, tail.encode(), row.begin, row.duration))
                numbers.append(number)
            counts.append(len(rows) - before)
        heads, words, tails, begins, durations = map(list, zip(*rows)) if rows else ([] for _ in range(5))
        return Columns(heads, words, tails, np.array(begins), np.array(durations)), np.array(numbers, np.int64), counts

    def _checked(self, columns: Columns, numbers: np.ndarray, bounds: np.ndarray) -> TimedLines:
        """The words without silences, after a check of their times; words [bounds[k], bounds[k+1]) are group k."""
        heads, words, tails, begins, durations = columns
        ends, group = begins + durations, np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        self._check((begins[1:] < begins[:-1]) & (group[1:] == group[:-1]), "begins before the one above",
                    "sort the CTM: LC_ALL=C sort -k1,1 -k2,2 -k3,3n", columns, numbers)
        silent = np.fromiter(map(CTM_SILENCE.__contains__, words), bool, len(words))
        closes = np.full(len(bounds) - 1, np.nan)
        full = np.flatnonzero(np.diff(bounds))
        final = bounds[full + 1] - 1
        closes[full[silent[final]]] = ends[final[silent[final]]]
        if silent.any():
            keep = ~silent
            bounds = bounds_of(keep)[bounds]
            heads, words, tails = list(compress(heads, keep)), list(compress(words, keep)), list(compress(tails, keep))
            begins, ends, group, numbers = begins[keep], ends[keep], group[keep], numbers[keep]
        self._check((ends[:-1] - begins[1:] > MAX_OVERLAP + ROUNDING) & (group[1:] == group[:-1]),
                    f"overlaps the one before by more than {MAX_OVERLAP:g} s",
                    "give each speaker a channel or an id", Columns(heads, words, tails, begins, ends), numbers)
        return TimedLines(heads, words, tails, begins, ends, bounds, closes)

    def _check(self, wrong: np.ndarray, what: str, remedy: str, columns: Columns, numbers: np.ndarray) -> None:
        """Raise InputError if `wrong`, one for each pair of neighbours, has a true one; it names the pair's second."""
        if wrong.any():
            at = int(np.argmax(wrong)) + 1
            id = columns.heads[at].split(b" ", 1)[0].decode()
            raise InputError(f"at {columns.begins[at]:.2f} s a word of '{id}' {what}", remedy, self.path,
                             int(numbers[at]))


def _batches(runs: Iterable[tuple[int, Run]]) -> Iterator[list[tuple[int, Run]]]:
    """Runs, about BATCH_LINES lines at a time."""
    batch: list[tuple[int, Run]] = []
    lines = 0
    for number, run in runs:
        batch.append((number, run))
        lines += run.lines
        if lines >= BATCH_LINES:
            yield batch
            batch, lines = [], 0
    if batch:
        yield batch


def _same(lines: list[bytes], first: int) -> int:
    """How many lines, from the first one on, begin with the same two fields; only Kaldi's form counts as the same."""
    start = LINE_START.match(lines[first])
    done, step = first + 1, 16
    while start and done < len(lines):
        same = list(map(bytes.startswith, lines[done:done + step], repeat(start[0])))
        if not all(same):
            return done + same.index(False) - first
        done, step = done + len(same), 2 * step
    return done - first


def _columns(text: bytes) -> Columns | None:
    """The columns of lines that all have the same number of columns; None if `ctm` must read them."""
    if any(strange in text for strange in STRANGE) or len(text.translate(None, CONTROLS)) < len(text):
        return None
    count = text.count(b"\n")
    tokens = text.replace(b"\n", b" \0 ").split()  # a token for each line end keeps lines apart
    width = len(tokens) // max(count, 1)
    if not 6 <= width <= 9 or len(tokens) != width * count or tokens[width - 1::width].count(b"\0") != count:
        return None
    columns = [tokens[i::width] for i in range(width - 1)]
    confidences = list(set(columns[5])) if width > 6 else []  # only to check them; few are distinct
    begins, durations = _numbers(columns[2]), _numbers(columns[3])
    if begins is None or durations is None or _numbers(confidences) is None:
        return None
    if (begins < 0).any() or (durations < 0).any() or (begins >= LATEST).any() or (durations >= LATEST).any():
        return None
    try:
        words = b" ".join(columns[4]).decode().split(" ")
    except UnicodeDecodeError:
        return None
    heads = list(map(b" ".join, zip(*columns[:4])))
    tails = list(map(b" ".__add__, map(b" ".join, zip(*columns[5:])))) if width > 6 else [b""] * count
    return Columns(heads, words, tails, begins, durations)


def _numbers(column: list[bytes]) -> np.ndarray | None:
    """The numbers; None if one is not a finite number, or is written as 1_000, which only Python reads."""
    try:
        numbers = np.fromiter(map(float, column), float, len(column))
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() and b"_" not in b"".join(column) else None
