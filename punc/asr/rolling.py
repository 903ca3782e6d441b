"""Rolling captions: cues that show the last lines of the cue before again, above what is said next.

YouTube's automatic captions are such, in WebVTT and as SRT, and so are roll-up captions of television:

    00:00:00.160 --> 00:00:02.149    so<00:00:00.480><c> it</c><00:00:00.640><c> begins</c>
    00:00:02.149 --> 00:00:02.159    so it begins
    00:00:02.159 --> 00:00:04.630    so it begins
                                     as<00:00:02.480><c> it</c><00:00:02.800><c> must</c>

A line is said where it first stands. The lines that repeat it are places of the same words.
"""

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from punc.asr.captions import Cue, by_speaker
from punc.asr.document import Document, Places, Source
from punc.asr.matching import word_bounds
from punc.asr.places import word_places
from punc.asr.segments import Segment

logger = logging.getLogger(__name__)
LINE = re.compile(rb"[^\r\n]+")
HEAD = 200  # cues that show whether captions roll
LEAST = 3  # of them, and half of them, repeat a line: else people have said it again
GAP = 0.1  # seconds between a cue and one that repeats its lines, at most


class Line(NamedTuple):
    """A line of a cue: its bytes, and the bytes of the line that says it, which is itself or one of a cue before."""

    start: int
    stop: int
    said: tuple[int, int]


def unrolled(source: Source, cues: Iterable[Cue], markup: re.Pattern[bytes]) -> tuple[list[Cue], list[Line]]:
    """The cues of a file without the lines that they repeat, and these lines; none, if the captions do not roll."""
    found = list(cues)
    if not _rolling(source.data, found[:HEAD], markup):
        return found, []
    said, repeats = list[Cue](), list[Line]()
    for cue, lines, count in _compared(source.data, found, markup):
        repeats += lines[:count]
        if len(lines) > count:
            said.append(cue._replace(start=lines[count].start) if count else cue)
    logger.info("%s: rolling captions: %d lines that are shown again are read once", source.path, len(repeats))
    return said, repeats


def _rolling(data: bytes, cues: Iterable[Cue], markup: re.Pattern[bytes]) -> bool:
    counts = [count for _, lines, count in _compared(data, cues, markup) if lines]
    repeating = sum(count > 0 for count in counts)
    return repeating >= max(LEAST, len(counts) / 2)


def _compared(data: bytes, cues: Iterable[Cue], markup: re.Pattern[bytes]) -> Iterator[tuple[Cue, list[Line], int]]:
    """Each cue, its lines, and how many of them, at its beginning, are the last ones of the cue before."""
    before, old, end = list[Line](), list[list[bytes]](), -np.inf
    for cue in cues:
        lines = [Line(*match.span(), match.span()) for match in LINE.finditer(data, cue.start, cue.stop)
                 if not match[0].isspace()]
        words = [_words(data[line.start:line.stop], markup) for line in lines]
        count = _repeated(old, words) if cue.begin <= end + GAP else 0
        lines[:count] = [line._replace(said=one.said) for line, one in zip(lines, before[len(before) - count:])]
        yield cue, lines, count
        before, old, end = lines, words, cue.end


def _words(line: bytes, markup: re.Pattern[bytes]) -> list[bytes]:
    return (markup.sub(b"", line) if b"<" in line or b"{" in line else line).split()


def _repeated(old: Sequence[list[bytes]], new: Sequence[list[bytes]]) -> int:
    """How many lines at the beginning are the last ones of the cue before, given the words of both."""
    return next((n for n in range(min(len(old), len(new)), 0, -1) if old[-n:] == new[:n]), 0)


def with_repeats(document: Document, repeats: Sequence[Line], left_out: Iterable[tuple[int, int]]) -> Document:
    """A document whose words also stand in the lines that repeat them.

    left_out  bytes that are no words, as markup

    A line stays as it is if markup divides a word of it, or if a speaker's name stands in one of both only.
    """
    if not repeats:
        return document
    _, names = by_speaker(document.data, [Segment(line.start, line.stop) for line in repeats])
    bounds = np.array([(line.start, line.stop, *line.said) for line in repeats], np.int64)
    places = word_places(document.data, bounds[:, 0], bounds[:, 1], [*left_out, *names])
    counts = np.bincount(places.ranges, minlength=len(bounds))
    first, last = word_bounds(document.joined)
    low, high = np.searchsorted(document.starts[first], bounds[:, 2:].T)
    whole = (counts == high - low) & (np.bincount(places.ranges, places.joined, len(bounds)) == 0)
    number = np.arange(len(places.ranges)) + np.repeat(low - (np.cumsum(counts) - counts), counts)
    kept = whole[places.ranges]
    own = number[kept]
    return document._replace(copies=Places(places.starts[kept], places.stops[kept], first[own], last[own],
                                           np.zeros(len(own), bool)))
