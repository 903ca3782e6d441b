"""Reads and writes CTM: lines `id channel begin duration word [confidence [type [speaker]]]`, with times in seconds.

The id names a recording or an utterance; the times in an utterance count from its start. NIST's CTMs can also have `;;`
comments, `NA` instead of a confidence, and alternatives. Some programs leave out the channel.

Only the first of several alternatives is used. `CtmIndex` sorts the words of an id by time. It accepts words that
overlap by at most MAX_OVERLAP seconds (where an ASR system has joined two parts of a recording); the pause between them
is 0. A longer overlap, such as that of two speakers in one channel, raises InputError. `CtmIndex` counts the words that
are left out, out of order or overlapping.
"""

import functools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError, StrPath
from punc.base.files import atomic_file, decode_line, open_input
from punc.base.runs import IdTable
from punc.data.datadir import LATEST
from punc.data.tables import fields
from punc.timing.pauses import TimedWord, Timing
from punc.transcripts.clock import checked_number, checked_seconds
from punc.transcripts.source import PartsDocument
from punc.transcripts.transcript import Text

CTM_SILENCE = frozenset(("<eps>", "<sil>", "<SIL>", "!SIL"))
# s; a longer overlap is an error. In a real CTM of 34 calls, 300 of 270,000 words overlap, by 0.6 s at most.
MAX_OVERLAP = 1.0
ROUNDING = 1e-6  # s; an overlap of up to this is a rounding error and does not count
KEY = re.compile(rb"[ \t]*([^ \t\n]+)")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")  # characters that are not allowed in a CTM
# USUAL matches most lines. In a line that matches, only the times need a further check.
FIELD, NUMBER, GAP = r"[^\x00-\x20\x7f\ud800-\udfff]+", r"\d{1,12}(?:\.\d{1,12})?", r"[ \t]+"
USUAL = re.compile(rf"[ \t]*(?!;;)({FIELD}){GAP}({FIELD}){GAP}({NUMBER}){GAP}({NUMBER}){GAP}((?!<ALT){FIELD})"
                   rf"(?:{GAP}({NUMBER}))?[ \t]*\n?", re.ASCII)
BEFORE_WORD = {count: re.compile(rf"[ \t]*(?:[^ \t]+[ \t]+){{{count}}}") for count in (3, 4)}


class CtmLine(NamedTuple):
    """A line of a CTM: its file, number, and text with line end. Lone surrogates stand for bytes that are not UTF-8."""

    path: StrPath
    number: int
    text: str

    def error(self, what: str, remedy: str) -> InputError:
        return InputError(what, remedy, self.path, self.number)


class CtmRow(NamedTuple):
    """A word of a CTM, its line, and the index of its first character in the line."""

    word: TimedWord
    line: CtmLine
    start: int


def ctm_rows(lines: Iterable[CtmLine], repairs: Counter[str] | None = None) -> Iterator[CtmRow]:
    """Yield the words of a CTM's lines, including silences. `repairs` counts the words of skipped alternatives."""
    repairs = Counter[str]() if repairs is None else repairs
    begun: CtmLine | None = None  # the line where the current alternatives begin
    later = False  # whether the line is in an alternative after the first
    bare: bool | None = None  # whether the lines have no channels
    for line in lines:
        text = line.text
        if not bare and not later and (found := USUAL.fullmatch(text)):
            id, channel, begin, duration, word, confidence = found.groups()
            score = float(confidence) if confidence else None
            if (time := float(begin)) < LATEST and (length := float(duration)) < LATEST:
                bare = False
                yield CtmRow(TimedWord(id, channel, time, length, word, score), line, found.start(5))
                continue
        columns = fields(check_line(text.encode(errors="surrogateescape"), line.path, line.number))
        if not columns or columns[0].startswith(";;"):
            continue
        bare = has_no_channel(columns) if bare is None else bare
        if bare:
            columns.insert(1, "1")
        if not 5 <= len(columns) <= 8:
            raise line.error(f"{len(columns)} columns", "write: id channel begin duration word [confidence]")
        id, channel, begin, duration, word = columns[:5]
        if word in ("<ALT_BEGIN>", "<ALT>", "<ALT_END>"):
            begun, later = None if word == "<ALT_END>" else begun or line, word == "<ALT>"
            continue
        if later:
            repairs["words of later alternatives, left out"] += 1
            continue
        score = None
        if len(columns) > 5 and columns[5] != "NA":
            score = checked_number(columns[5], "confidence", line.error)
        before = BEFORE_WORD[3 if bare else 4].match(text)
        assert before
        times = checked_seconds(begin, "begin", line.error), checked_seconds(duration, "duration", line.error)
        speaker = columns[7] if len(columns) == 8 else ""
        yield CtmRow(TimedWord(id, channel, *times, word, score, speaker), line, before.end())
    if begun:
        raise begun.error("alternatives without an end", "write a line <ALT_END> after them")


def has_no_channel(columns: Sequence[str]) -> bool:
    """Return whether a line has no channel: its second and third columns are numbers, but its fourth is not."""
    numbers = [column.replace(".", "", 1).isdecimal() for column in columns[1:]]
    return numbers in ([True, True, False], [True, True, False, True])


def check_line(line: bytes, path: StrPath, number: int) -> str:
    """Decode a line or part of a line. Raises InputError for control characters and bytes that are not UTF-8."""
    text = decode_line(line, path, number)
    if CONTROL.search(text):
        raise InputError("the line has a control character",
                         "remove it: the file is not text, or is broken", path, number)
    return text


class CtmIndex(Mapping[str, Callable[..., Timing]]):
    """Maps each id of a CTM, or of the `*.ctm` files in a directory, to a function that reads the id's timing.

    The function's arguments name the channel to read, and all channels of the id that are recordings. `repairs` counts
    repairs. Each run of lines with the same id needs 56 bytes of memory.

    Raises InputError if a file is missing or has no words. The function raises InputError for an invalid line, for an
    overlap of more than MAX_OVERLAP seconds, and if the id has several channels but the argument is not one of them.
    """

    def __init__(self, path: StrPath, repairs: Counter[str] | None = None):
        self._files = sorted(Path(path).glob("*.ctm")) if Path(path).is_dir() else [Path(path)]
        if not self._files:
            raise InputError("no *.ctm in this directory", "give a CTM, or a directory with some", path)
        for file in self._files:
            if file.exists() and not file.is_file():
                raise InputError("not a file", "write the CTM to a file, because it is read twice", file)
        self.repairs: Counter[str] = Counter() if repairs is None else repairs
        self._stretches = IdTable(4)
        for id, *stretch in _stretches(self._files):
            self._stretches.add(id, *stretch)
        self.repairs["ids with lines in several places"] += int((self._stretches.counts() > 1).sum())

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and id in self._stretches

    def __getitem__(self, id: str) -> Callable[..., Timing]:
        if id not in self._stretches:
            raise KeyError(id)
        return functools.partial(self._read, id)

    def __iter__(self) -> Iterator[str]:
        """Yield the ids in the order in which they first appear in the files. Reads the files again."""
        for id, *stretch in _stretches(self._files):
            if self._stretches.rows(id)[0].tolist() == stretch:  # the first stretch of the id
                yield id

    def __len__(self) -> int:
        return len(self._stretches.counts())

    def size(self, id: str) -> int:
        return int((self._stretches.rows(id)[:, 2] - self._stretches.rows(id)[:, 1]).sum())

    def where(self, id: str) -> tuple[Path, int]:
        number, _, _, line = self._stretches.rows(id)[0].tolist()
        return self._files[int(number)], int(line)

    def lines(self, id: str, channel: str = "", known: Set[str] = frozenset(), strict: bool = False) -> list[CtmLine]:
        """Return the lines of an id or of one of its channels. `known`: the channels of the id that are recordings;
        empty: unknown. If the id has several channels, raises InputError if none of them is in `known` or, with
        `strict`, if one is not; if `known` is empty, raises InputError if none of them is `channel`."""
        lines: list[CtmLine] = []
        for number, begin, end, line in self._stretches.rows(id).astype(np.int64).tolist():
            path = self._files[number]
            with open_input(path) as file:
                file.seek(begin)
                raw = file.read(end - begin).decode(errors="surrogateescape").removesuffix("\n").split("\n")
            lines += [CtmLine(path, at, f"{text}\n") for at, text in enumerate(raw, line)]
        if has_no_channel(lines[0].text.split()):
            return lines
        by_channel: dict[str, list[CtmLine]] = {}
        for one in lines:
            head = one.text.split(None, 2)
            if len(head) > 1 and not head[0].startswith(";;"):
                by_channel.setdefault(head[1], []).append(one)
        if len(by_channel) < 2 and len(known) < 2:
            return lines
        if known and strict and (others := by_channel.keys() - known):
            raise lines[0].error(f"'{id}' has a channel {min(others)} that is not a recording",
                                 "name its recording in reco2file_and_channel")
        if by_channel.keys().isdisjoint(known or (channel,)):
            raise lines[0].error(f"'{id}' has channels {' '.join(sorted(by_channel))} under one id",
                                 "name the channel of each recording in reco2file_and_channel")
        return by_channel.get(channel, [])

    def _read(self, id: str, channel: str = "", known: Set[str] = frozenset()) -> Timing:
        lines = self.lines(id, channel, known)
        return _timing([*ctm_rows(lines, self.repairs)], self.where(id)[0], self.repairs)


def _stretches(files: Sequence[Path]) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield, for each run of lines with the same id: id, index of the file, first byte, end byte, number of the first
    line."""
    for number, path in enumerate(files):
        id, key, begin, first, position = "", b"", 0, 1, 0
        with open_input(path) as file:
            for at, line in enumerate(file, 1):
                found = KEY.match(line)
                this = found[1] if found and not found[1].startswith(b";;") else key
                if this != key:
                    if key:
                        yield id, number, begin, position, first
                    id, key, begin, first = check_line(this, path, at), this, position, at
                position += len(line)
        if not key:
            raise InputError("the file has no timed words", "make it again", path)
        yield id, number, begin, position, first


def read_lines(lines: Sequence[CtmLine], document: PartsDocument, at: int = 0, repairs: Counter[str] | None = None,
               streams: dict[tuple[str, str], int] | None = None) -> list[Text]:
    """Return the words of `lines` as texts. The lines start at character `at` of the document. `streams` maps
    (id, channel) to the number of a stream; new streams are added to it."""
    texts, streams = list[Text](), {} if streams is None else streams
    starts = dict(zip(map(id, lines), accumulate([len(line.text) for line in lines], initial=at)))
    for row, line, start in ctm_rows(lines, repairs):
        name, channel, begin, duration, word, confidence, speaker = row
        start += starts[id(line)]
        place = document.place(start, start + len(word))
        stream = streams.setdefault((name, channel), len(streams))
        texts.append(Text(place, word, begin, begin + duration, speaker,
                          math.nan if confidence is None else confidence, stream, stream, name))
    return texts


def _timing(rows: list[CtmRow], path: StrPath, repairs: Counter[str]) -> Timing:
    begins = np.array([row.word.begin for row in rows])
    backward = int(np.count_nonzero(np.diff(begins) < 0))
    if backward:
        repairs["lines that were not in time order"] += backward
        rows = [rows[i] for i in np.argsort(begins, kind="stable")]
    first, last = (rows[0].line.number, rows[-1].word) if rows else (None, None)
    end = last.begin + last.duration if last and last.word in CTM_SILENCE else None
    rows = [row for row in rows if row.word.word not in CTM_SILENCE]
    words = [row.word for row in rows]
    overlaps = np.array([word.begin + word.duration - after.begin for word, after in pairwise(words)])
    if (overlaps > MAX_OVERLAP + ROUNDING).any():
        word, line, _ = rows[int(np.argmax(overlaps > MAX_OVERLAP + ROUNDING)) + 1]
        raise line.error(f"at {word.begin:.2f} s a word of '{word.id}' overlaps the one before by more than "
                         f"{MAX_OVERLAP:g} s", "give each speaker a channel")
    repairs["overlapping words"] += int(np.count_nonzero(overlaps > ROUNDING))
    return Timing(words, end, path, first)


def write_ctm(path: StrPath, words: Iterable[TimedWord]) -> None:
    """Write words to a CTM in the given order."""
    with atomic_file(path) as file:
        for id, channel, begin, duration, word, confidence, _ in words:
            times = f"{id} {channel} {decimals(begin)} {decimals(duration)} {word}"
            file.write(f"{times}\n" if confidence is None else f"{times} {decimals(confidence)}\n")


def decimals(value: float) -> str:
    """Format a time or a confidence with two to six decimals."""
    whole, _, fraction = f"{value:.6f}".partition(".")
    return f"{whole}.{fraction.rstrip('0'):0<2}"
