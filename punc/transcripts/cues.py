"""Reads subtitle cues in SRT, WebVTT and SBV, and accepts the errors that players accept.

A cue begins with a line of times, and ends before the next line of times or before the cue number or name above that
line. In WebVTT, the blocks NOTE, STYLE and REGION are not text.

Rolling captions (YouTube's automatic captions, roll-up captions on television) repeat the last lines of the previous
cue above a new line. The reader takes each line from the first cue that shows it; later copies are repeats. Whisper's
`--highlight_words` repeats a cue with another word underlined: its words last until the last copy ends.

Source: www.w3.org/TR/webvtt1, sections 4.1 to 4.2.2; SRT has no standard, but www.matroska.org/technical/subtitles.html
describes it.
"""

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from punc.transcripts.clock import seconds
from punc.transcripts.source import LINE, Source, Stretch, TextReader
from punc.transcripts.transcript import Repeat, Transcript, split

CLOCK = r"-?(?:\d{1,5}:)?\d{1,3}:\d{1,2}(?:[ ]?[.,:;][ ]?\d{1,3})?"
ARROW = r"[ \t]*(?:-{1,3}>|→|–>|—>)[ \t]*"
TIMES = re.compile(rf"[ \t]*(?:\d{{1,7}}[ \t]+)?(?P<begin>{CLOCK}){ARROW}(?P<end>{CLOCK})(?P<more>(?:[ \t].*)?)")
SBV_CLOCK = r"\d{1,2}:\d\d:\d\d\.\d{2,3}"  # SubViewer has hundredths of a second
SBV_TIMES = re.compile(rf"[ \t]*(?P<begin>{SBV_CLOCK}),(?P<end>{SBV_CLOCK})(?P<more>)[ \t]*")
BROKEN = re.compile(rf"[ \t]*(?:{CLOCK}{ARROW}\S|\S*\d{ARROW}{CLOCK})")
SETTINGS = re.compile(r"(?:[ \t]+[A-Za-z]\w{0,30}:\S{1,60})*[ \t]*")  # `align:start`, `X1:40`
NUMBER = re.compile(r"[ \t]*\d{1,7}[ \t]*")
VTT = re.compile(r"\ufeff?WEBVTT(?:[ \t\r\n]|\Z)", re.I)
BLOCK = re.compile(r"(?:NOTE|STYLE|REGION)(?:[ \t]|$)")
WHOLE_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|$)")
TAG = r"</?(?:i|b|u|s|c|v|lang|ruby|rt|font)(?=[ .\t>/])[^<>\n]{0,200}>"
MARKUP = re.compile(TAG + r"|\{\\[^{}\n]{0,100}\}|(?P<blank><br ?/?>|\\N|\[br\]|\|)", re.I)
VTT_MARKUP = re.compile(
    rf"<v(?:\.[^\s<>]{{1,40}})?[ \t](?P<voice>[^<>\n]{{1,200}})>|{TAG}|<(?P<time>{CLOCK})>|(?P<blank><br ?/?>)")

HEAD = 200  # the number of cues at the beginning of a file that decide whether its captions roll
LEAST = 3  # captions roll if at least LEAST and at least half of the HEAD cues repeat the previous cue
GAP = 0.1  # s; after a longer gap between two cues, equal lines do not count as repeated
MOST_LINES = 12  # the maximum number of lines of a cue that are compared


class Roll(NamedTuple):
    """The lines of a cue, as characters [start, stop), and how many lines at its beginning repeat the previous cue."""

    lines: list[tuple[int, int]]
    repeated: int


def form_of(text: str) -> str:
    """Return the name of a text's cue format; empty if the text has no cues."""
    if VTT.match(text[:10]):
        return "WebVTT"
    rows = text.splitlines()
    if (">" in text or "→" in text) and any(map(TIMES.fullmatch, rows)):
        return "SRT"
    return "SBV" if any(map(SBV_TIMES.fullmatch, rows)) else ""


def find_cues(source: Source, times: re.Pattern[str] = TIMES, named: bool = False) -> list[Stretch]:
    """Return the cues of a file; each is a segment. Raises InputError for an invalid line of times."""
    lines = list(WHOLE_LINE.finditer(source.text))  # the last match is empty, at the end of the file
    heads = []
    for number, line in enumerate(lines):
        if times.fullmatch(line[1]):
            heads.append(number)
        elif ">" in line[1] and BROKEN.match(line[1]):
            raise source.error("not the times of a cue", "write: 00:00:01,500 --> 00:00:02,750", line.start())
    cues = list[Stretch]()
    for number, after in pairwise([*heads, len(lines) - 1]):
        found, head = times.fullmatch(lines[number][1]), lines[number]
        assert found
        more = "" if SETTINGS.fullmatch(found["more"]) else found["more"]
        size = _size([line[1] for line in lines[number + 1:after]], after == len(lines) - 1, named)
        cues.append(Stretch(head.end(1) - len(more) if more else head.end(), lines[number + 1 + size].start(),
                            seconds(found["begin"]), seconds(found["end"]), segment=len(cues)))
    return cues


def _size(lines: Sequence[str], is_last: bool, named: bool) -> int:
    """Return how many of the `lines` between two lines of times belong to the first cue. A cue ends before the
    number of the next cue or, if `named`, before the next cue's name or a BLOCK. After the last cue, a number counts
    only after an empty line: the file was cut there."""
    for number, (before, line) in enumerate(pairwise(["", *lines])):
        if named and BLOCK.match(line) and not before.strip():
            return number
    last = max((number for number, line in enumerate(lines) if line.strip()), default=0)
    apart = last > 0 and not lines[last - 1].strip()
    if not lines or (is_last and not apart):
        return len(lines)
    is_name = named and apart and last == len(lines) - 1 and not is_last
    return last if is_name or NUMBER.fullmatch(lines[last]) else len(lines)


def read_cues(source: Source, name: str) -> Transcript:
    """Read a file in the format `name`: `SRT`, `WebVTT` or YouTube's `SBV`. Raises InputError like `find_cues`."""
    named = name == "WebVTT"
    markup = VTT_MARKUP if named else MARKUP
    cues = find_cues(source, SBV_TIMES if name == "SBV" else TIMES, named)
    reader = TextReader(source, markup, dashes=True)
    rolls = _rolls(source.text, cues, markup)
    if rolls:
        repeats = _read_rolling(source, reader, cues, rolls)
        message = f"rolling captions: {len(repeats)} repeated lines are read once"
        return reader.transcript(name, repeats=repeats, notes=[message])
    voices = named and "<v" in source.text
    for cue in cues:
        reader.read(cue, keep_speaker=not voices)
    return reader.transcript(name)


def _rolls(text: str, cues: Sequence[Stretch], markup: re.Pattern[str]) -> list[Roll]:
    rolls, before, end = list[Roll](), list[list[str]](), -math.inf
    for cue in cues:
        lines = [found.span() for found in LINE.finditer(text, cue.start, cue.stop) if not found[0].isspace()]
        words = [split(markup.sub("", text[start:stop])) for start, stop in lines[:MOST_LINES]]
        most = min(len(before), len(words)) if cue.begin <= end + GAP else 0
        rolls.append(Roll(lines, next((n for n in range(most, 0, -1) if before[-n:] == words[:n]), 0)))
        before, end = words, cue.end
        if len(rolls) == min(HEAD, len(cues)):
            counts = [one.repeated for one in rolls if one.lines]
            if sum(count > 0 for count in counts) < max(LEAST, len(counts) / 2):
                return []
    return rolls


def _read_rolling(source: Source, reader: TextReader, cues: Sequence[Stretch], rolls: Sequence[Roll]) -> list[Repeat]:
    # `before`: the texts [first, last) of each line of the previous cue.
    repeats, before = list[Repeat](), list[tuple[int, int]]()
    for cue, rolled in zip(cues, rolls):
        said = before[len(before) - rolled.repeated:]
        for (start, stop), repeated in zip(rolled.lines, said):
            places = [reader.document.place(begin, end) for begin, end, _ in
                      reader.cuts(cue._replace(start=start, stop=stop)) if split(source.text[begin:end])]
            repeats.append(Repeat([(place, reader.document.read(place)) for place in places], *repeated))
        new = [cue._replace(start=start, stop=stop, begin=math.nan, end=math.nan)
               for start, stop in rolled.lines[rolled.repeated:]]
        if new:
            new[0] = new[0]._replace(begin=cue.begin)
            new[-1] = new[-1]._replace(end=cue.end)
        elif said and said[-1][0] < said[-1][1]:  # a copy with another word highlighted: the words last until it ends
            last = said[-1][1] - 1
            reader.texts[last] = reader.texts[last]._replace(end=max(reader.texts[last].end, cue.end))
        for line in new:
            first = len(reader.texts)
            reader.read(line)
            said.append((first, len(reader.texts)))
        before = said
    return repeats
