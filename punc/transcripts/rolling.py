"""Rolling captions: cues that show the last lines of the cue before again, above what is said next.

YouTube's automatic captions are such, in WebVTT and as SRT, and so are roll-up captions of television:

    00:00:00.160 --> 00:00:02.149    so<00:00:00.480><c> it</c><00:00:00.640><c> begins</c>
    00:00:02.149 --> 00:00:02.159    so it begins
    00:00:02.159 --> 00:00:04.630    so it begins
                                     as<00:00:02.480><c> it</c><00:00:02.800><c> must</c>

A line is said where it first stands. The lines that repeat it repeat its words.
"""

import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from punc.transcripts.parts import LINE, Stretch, TextReader
from punc.transcripts.source import Source
from punc.transcripts.speakers import find_label
from punc.transcripts.transcript import Repeat, split

HEAD = 200  # cues that show whether captions roll
LEAST = 3  # of them, and half of them, repeat a line: else people have said it again
GAP = 0.1  # seconds between a cue and one that repeats its lines, at most
MOST_LINES = 12  # of a cue, that are compared


class Roll(NamedTuple):
    """A cue's lines, as characters [start, stop), and how many of them, at its beginning, repeat the cue before."""

    lines: list[tuple[int, int]]
    repeated: int


def roll(text: str, cues: Sequence[Stretch], markup: re.Pattern[str]) -> list[Roll]:
    """The lines of each cue; empty, if the captions do not roll."""
    rolls = list(_compared(text, cues, markup))
    counts = [one.repeated for one in rolls[:HEAD] if one.lines]
    return rolls if sum(count > 0 for count in counts) >= max(LEAST, len(counts) / 2) else []


def _compared(text: str, cues: Sequence[Stretch], markup: re.Pattern[str]) -> Iterator[Roll]:
    before, end = list[list[str]](), -math.inf
    for cue in cues:
        lines = [found.span() for found in LINE.finditer(text, cue.start, cue.stop) if not found[0].isspace()]
        words = [split(markup.sub("", text[start:stop])) for start, stop in lines[:MOST_LINES]]
        count = _repeated(before, words) if cue.begin <= end + GAP else 0
        yield Roll(lines, count)
        before, end = words, cue.end


def _repeated(old: list[list[str]], new: list[list[str]]) -> int:
    """How many lines at the beginning are the last ones of the cue before, given the words of both."""
    return next((n for n in range(min(len(old), len(new)), 0, -1) if old[-n:] == new[:n]), 0)


def read(source: Source, reader: TextReader, cues: Sequence[Stretch], rolls: Sequence[Roll]) -> list[Repeat]:
    """Read the lines that are said, and return those that repeat them.

    A line stays as it is where markup divides its words.
    """
    repeats, before = list[Repeat](), list[tuple[int, int]]()  # the texts [first, last) of the lines of the cue before
    for cue, rolled in zip(cues, rolls):
        said = before[len(before) - rolled.repeated:]
        for (start, stop), repeated in zip(rolled.lines, said):
            label = find_label(source.text[start:stop])
            start += label.size if label and label.sure else 0
            if "<" not in source.text[start:stop]:
                place = reader.document.place(start, stop)
                repeats.append(Repeat([(place, reader.document.read(place))], *repeated))
        new = rolled.lines[rolled.repeated:]
        for start, stop in new:
            first, is_first, is_last = len(reader.texts), (start, stop) == new[0], (start, stop) == new[-1]
            reader.read(cue._replace(start=start, stop=stop, begin=cue.begin if is_first else math.nan,
                                     end=cue.end if is_last else math.nan))
            said.append((first, len(reader.texts)))
        before = said
    return repeats
