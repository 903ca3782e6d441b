"""CTMs at full speed: where each id's lines stand, and many lines as columns, with no Python step per column.

The fast side of `punc.timing.ctm`, for words that are written again with their times and confidences as they were. A block
that is not as Kaldi writes it (comments, alternatives, lines of different numbers of columns) or in which a check
fails is read by `punc.timing.ctm`, line by line, which also says what is wrong. Other than there, lines have to be in time
order: what is written again is in the order of what was read.
"""

import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, repeat
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.files import decode_line, open_input
from punc.data.tables import fields
from punc.timing.ctm import CTM_SILENCE, MAX_OVERLAP, ROUNDING, ctm_rows

BLOCK = 1 << 20  # bytes of which the places of lines are found at a time
BATCH = 1 << 14  # lines whose columns are made at a time: what that takes fits a cache
LINE_START = re.compile(rb"[^\s;]\S* +\S+ ")  # id and channel
STRANGE = b"\0", b"\r", b"\x0b", b"\x0c", b";;", b"<ALT"  # what makes a block one for `punc.timing.ctm`


class Run(NamedTuple):
    """Lines of one id and channel that stand together: bytes [begin, end) of the file, `lines` from `line` on."""

    id: str
    channel: str
    begin: int
    end: int
    line: int
    lines: int


class Columns(NamedTuple):
    """Lines of a CTM as columns, silences too; `TimedLines` says what the first three are. The others: seconds."""

    heads: list[bytes]
    words: list[str]
    tails: list[bytes]
    begins: np.ndarray
    durations: np.ndarray


class TimedLines(NamedTuple):
    """The words of some lines of a CTM, without silences.

    heads    of each line: id, channel, begin and duration
    words    …
    tails    what stands behind the word, with a blank before it; empty where there is nothing
    begins   float64 (N,) seconds as they stand in the CTM; `ends` of the words likewise
    bounds   int64 (K+1,): words [bounds[k], bounds[k+1]) are of the k-th lot of runs
    closes   float64 (K,): the end of the silence that is a lot's last line; NaN where a word is
    """

    heads: list[bytes]
    words: list[str]
    tails: list[bytes]
    begins: np.ndarray
    ends: np.ndarray
    bounds: np.ndarray
    closes: np.ndarray


class CtmFile:
    """A CTM that is open for reading. Raises InputError where it is missing."""

    def __init__(self, path: str | os.PathLike):
        self.path = path
        with open_input(path):
            self._file = open(path, "rb")  # noqa: SIM115 (closed by close)

    def __enter__(self) -> "CtmFile":
        return self

    def __exit__(self, *_) -> None:
        self._file.close()

    def runs(self) -> Iterator[Run]:
        """Where the lines of each id and channel stand, in the file's order; comments belong to the run before them.

        Raises InputError where there are no words.
        """
        self._file.seek(0)
        at, number, last = 0, 1, None
        while lines := self._file.readlines(BLOCK):
            done = 0
            while done < len(lines):
                key, count = lines[done].split(None, 2)[:2], _same(lines, done)
                size = sum(map(len, lines[done:done + count]))
                if not key or key[0].startswith(b";;") or (last and [last.id, last.channel] == key):
                    if last:
                        last = last._replace(end=at + size, lines=number + count - last.line)
                else:
                    if last:
                        yield self._decoded(last)
                    deque(ctm_rows([(number, lines[done])], self.path) if len(key) < 2 else (), maxlen=0)
                    last = Run(*key, at, at + size, number, count)
                at, number, done = at + size, number + count, done + count
        if not last:
            raise InputError("the file has no timed words", "make it again", self.path)
        yield self._decoded(last)

    def _decoded(self, run: Run) -> Run:
        return run._replace(id=decode_line(run.id, self.path, run.line),
                            channel=decode_line(run.channel, self.path, run.line))

    def read(self, lots: Sequence[Sequence[Run]]) -> TimedLines:
        """The words of some lots of runs; a lot is an utterance or a recording.

        Raises InputError for what `punc.timing.ctm.read_ctm` raises it, and for a lot that is not in time order.
        """
        heads, words, tails, parts, counts = [], [], [], [], np.zeros(len(lots), np.int64)
        runs = ((number, run) for number, lot in enumerate(lots) for run in lot)
        for batch in _batches(runs):
            columns, numbers, of_run = self._columns_of([run for _, run in batch])
            for whole, column in zip((heads, words, tails), columns[:3]):
                whole += column
            parts.append((columns.begins, columns.durations, numbers))
            np.add.at(counts, [number for number, _ in batch], of_run)
        times = [np.concatenate(part) for part in zip(*parts)] or np.zeros((3, 0))
        return self._checked(Columns(heads, words, tails, *times[:2]), times[2], np.append(0, np.cumsum(counts)))

    def _columns_of(self, runs: list[Run]) -> tuple[Columns, np.ndarray, list[int]]:
        """The columns of some runs, the number of each line, and how many there are of each run."""
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
        rows, numbers, counts = [], [], []
        for run, text in zip(runs, texts):
            lines, before = text.splitlines(keepends=True), len(rows)
            for number, row in ctm_rows(enumerate(lines, run.line), self.path):
                columns = fields(decode_line(lines[number - run.line], self.path, number))
                tail = "".join(f" {column}" for column in columns[5:])
                rows.append((" ".join(columns[:4]).encode(), row.word, tail.encode(), row.begin, row.duration))
                numbers.append(number)
            counts.append(len(rows) - before)
        heads, words, tails, begins, durations = map(list, zip(*rows)) if rows else ([] for _ in range(5))
        return Columns(heads, words, tails, np.array(begins), np.array(durations)), np.array(numbers, np.int64), counts

    def _checked(self, columns: Columns, numbers: np.ndarray, bounds: np.ndarray) -> TimedLines:
        """The words without silences; their times are checked."""
        heads, words, tails, begins, durations = columns
        ends, lot = begins + durations, np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        self._check((begins[1:] < begins[:-1]) & (lot[1:] == lot[:-1]), "begins before the one above",
                    "sort the CTM: LC_ALL=C sort -k1,1 -k2,2 -k3,3n", columns, numbers)
        silent = np.fromiter(map(CTM_SILENCE.__contains__, words), bool, len(words))
        closes = np.full(len(bounds) - 1, np.nan)
        full = np.flatnonzero(np.diff(bounds))
        final = bounds[full + 1] - 1
        closes[full[silent[final]]] = ends[final[silent[final]]]
        if silent.any():
            keep = ~silent
            bounds = np.append(0, np.cumsum(keep))[bounds]
            heads, words, tails = (list(compress(column, keep)) for column in columns[:3])
            begins, ends, lot, numbers = begins[keep], ends[keep], lot[keep], numbers[keep]
        self._check((ends[:-1] - begins[1:] > MAX_OVERLAP + ROUNDING) & (lot[1:] == lot[:-1]),
                    f"overlaps the one before by more than {MAX_OVERLAP:g} s",
                    "give each speaker a channel or an id", Columns(heads, words, tails, begins, ends), numbers)
        return TimedLines(heads, words, tails, begins, ends, bounds, closes)

    def _check(self, wrong: np.ndarray, what: str, remedy: str, columns: Columns, numbers: np.ndarray) -> None:
        """Raise InputError for the second of the first two words between which something is wrong."""
        if wrong.any():
            at = int(np.argmax(wrong)) + 1
            id = columns.heads[at].split(b" ", 1)[0].decode()
            raise InputError(f"at {columns.begins[at]:.2f} s a word of '{id}' {what}", remedy, self.path,
                             int(numbers[at]))


def _batches(runs: Iterable[tuple[int, Run]]) -> Iterator[list[tuple[int, Run]]]:
    """Runs, about BATCH lines at a time."""
    batch, lines = [], 0
    for number, run in runs:
        batch.append((number, run))
        lines += run.lines
        if lines >= BATCH:
            yield batch
            batch, lines = [], 0
    if batch:
        yield batch


def _same(lines: list[bytes], first: int) -> int:
    """How many lines from the first one on begin with the same two fields, as far as is easily told."""
    start = LINE_START.match(lines[first])
    done, step = first + 1, 16
    while start and done < len(lines):
        same = list(map(bytes.startswith, lines[done:done + step], repeat(start[0])))
        if not all(same):
            return done + same.index(False) - first
        done, step = done + len(same), 2 * step
    return done - first


def _columns(text: bytes) -> Columns | None:
    """The columns of lines that have all the same number of them; None where `punc.timing.ctm` has to look."""
    if any(strange in text for strange in STRANGE):
        return None
    count = text.count(b"\n")
    tokens = text.replace(b"\n", b" \0 ").split()  # a token for each line's end, since lines must not be mixed
    width = len(tokens) // max(count, 1)
    if not 6 <= width <= 9 or len(tokens) != width * count or tokens[width - 1::width].count(b"\0") != count:
        return None
    columns = [tokens[i::width] for i in range(width - 1)]
    confidences = list(set(columns[5])) if width > 6 else []  # only checked, and there are few of them
    numbers = [_numbers(column) for column in (*columns[2:4], confidences)]
    if any(column is None for column in numbers) or any((column < 0).any() for column in numbers[:2]):
        return None
    try:
        words = b" ".join(columns[4]).decode().split(" ")
    except UnicodeDecodeError:
        return None
    heads = list(map(b" ".join, zip(*columns[:4])))
    tails = list(map(b" ".__add__, map(b" ".join, zip(*columns[5:])))) if width > 6 else [b""] * count
    return Columns(heads, words, tails, *numbers[:2])


def _numbers(column: list[bytes]) -> np.ndarray | None:
    """Finite numbers; None where one is none."""
    try:
        numbers = np.fromiter(map(float, column), float, len(column))
    except ValueError:
        return None
    # Python takes 1_000 for a number, nobody else does.
    return numbers if np.isfinite(numbers).all() and b"_" not in b"".join(column) else None
