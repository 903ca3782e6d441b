"""Cues of SRT and WebVTT: their times, and where their texts stand."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from punc.asr.document import Source
from punc.asr.segments import Segment

CLOCK = rb"((?:\d{1,5}:)?\d\d?:\d\d[,.]\d{1,3})"
TIMES = re.compile(rb"^[ \t]*" + CLOCK + rb"[ \t]*-->[ \t]*" + CLOCK + rb"([^\r\n]*)(?:\r?\n|\r|\Z)", re.M)
SETTINGS = re.compile(rb"(?:\s+[A-Za-z]\w*:\S+)*\s*")  # `align:start`, `X1:40`
NUMBER = re.compile(rb"(?:\A|\n)[ \t]*\d+[ \t]*\r?\n[ \t\r\n]*\Z")
# An arrow after one word or none, or with no letter before it; in WebVTT, a text has none.
ARROW, ANY_ARROW = re.compile(rb"^(?:[ \t]*\S*[ \t]*|[^A-Za-z\x80-\xff\n]*)-->", re.M), re.compile(rb"^[^\n]*-->", re.M)
EMPTY_LINE, BLANK_LINE = re.compile(rb"^\r?\n", re.M), re.compile(rb"(?<=[^ \t\r\n])[ \t]*\r?\n()[ \t]+\r?\n")
# A name that begins a line: `John Smith:`, `SPEAKER_00:`, `[SPEAKER_00]:`
NAME = rb"[A-Z\xc3][\w\x80-\xff.'-]*"
SPEAKER = re.compile(rb"^[ \t]*(?:(?:-|>>)[ \t]*)?(\[?" + NAME + rb"(?: " + NAME + rb"){0,2}\]?):(?=\s|\Z)", re.M)


class Cue(NamedTuple):
    """A cue: its begin and end in seconds, and the bytes of its text."""

    begin: float
    end: float
    start: int
    stop: int


def cues(source: Source, to_blank_line: bool) -> Iterator[Cue]:
    """The cues of a file.

    to_blank_line   a text ends with an empty line, or, where there is none, with one of blanks below its words; else
                    with the number of the next cue

    Raises InputError for an arrow between what are no times, a cue that ends before it begins, and words behind times.
    """
    data = source.data
    found = list(TIMES.finditer(data))
    if data.count(b"-->") > len(found):
        _check_arrows(source, ANY_ARROW if to_blank_line else ARROW)
    for match, after in zip(found, [*found[1:], None]):
        begin, end = seconds(match[1]), seconds(match[2])
        if end < begin:
            raise source.error(f"a cue from {begin:g} to {end:g} s", "fix its times", match.start(1))
        if not SETTINGS.fullmatch(match[3]):
            raise source.error("words in the line of a cue's times", "begin a new line before them", match.start(3))
        start, stop = match.end(), after.start() if after else len(data)
        if to_blank_line:
            if empty := EMPTY_LINE.search(data, start, stop):
                stop = empty.start()
            elif blank := BLANK_LINE.search(data, start, stop):
                stop = blank.start(1)
        elif after and (number := NUMBER.search(data, start - 1, stop)):
            stop = max(start, number.start())
        yield Cue(begin, end, start, stop)


def _check_arrows(source: Source, arrow: re.Pattern[bytes]) -> None:
    """Raise InputError for a line that has an arrow as times have, but is none."""
    for match in arrow.finditer(source.data):
        if not TIMES.match(source.data, match.start()):
            raise source.error("no times of a cue", "write: 00:00:01,500 --> 00:00:02,750", match.start())


def seconds(clock: bytes) -> float:
    """`01:02:03,500` in seconds."""
    *hours, minutes, rest = clock.replace(b",", b".").split(b":")
    return 3600 * int(hours[0] if hours else 0) + 60 * int(minutes) + float(rest)


def by_speaker(data: bytes, segments: list[Segment], keep: bool = True) -> tuple[list[Segment], list[tuple[int, int]]]:
    """Segments cut where a line begins with a speaker's name, and the places of these names.

    keep   a name holds until the next one, not only in its segment
    """
    found = list(SPEAKER.finditer(data)) if b":" in data else []
    if not found:
        return segments, []
    cut, names, at, name = [], [], 0, ""
    for segment in segments:
        name = name if keep else segment.speaker
        start = segment.start
        while at < len(found) and found[at].start(1) < segment.stop:
            match = found[at]
            at += 1
            if match.start(1) < segment.start:
                continue
            if data[start:match.start()].strip():
                cut.append(segment._replace(start=start, stop=match.start(), end=np.nan, speaker=name))
                segment = segment._replace(begin=np.nan)
            names.append((match.start(1), match.end()))
            name, start = match[1].strip(b"[]").decode(), match.end()
        cut.append(segment._replace(start=start, speaker=name or segment.speaker))
    return cut, names
