"""Cues of subtitles: SRT, WebVTT and SBV, as loosely as players read them.

A cue begins at a line of times. Its text goes to the next cue: to the line of that one's times, or the number or name
before it. In WebVTT, blocks of NOTE, STYLE and REGION are no texts.

Source: www.w3.org/TR/webvtt1, sections 4.1 to 4.2.2; SRT has no standard, and www.matroska.org/technical/subtitles.html
describes it.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from punc.transcripts import rolling
from punc.transcripts.clock import seconds
from punc.transcripts.parts import PartsDocument, Stretch, TextReader
from punc.transcripts.rolling import Cue
from punc.transcripts.source import Source
from punc.transcripts.transcript import Transcript

CLOCK = r"-?(?:\d{1,5}:)?\d{1,3}:\d{1,2}(?:[ ]?[.,:;][ ]?\d{1,3})?"
ARROW = r"[ \t]*(?:-{1,3}>|→|–>|—>)[ \t]*"
TIMES = re.compile(rf"[ \t]*(?:\d{{1,7}}[ \t]+)?(?P<begin>{CLOCK}){ARROW}(?P<end>{CLOCK})(?P<more>(?:[ \t].*)?)")
SBV_CLOCK = r"\d{1,2}:\d\d:\d\d\.\d{3}"
SBV_TIMES = re.compile(rf"[ \t]*(?P<begin>{SBV_CLOCK}),(?P<end>{SBV_CLOCK})(?P<more>)[ \t]*")
BROKEN = re.compile(rf"[ \t]*(?:{CLOCK}{ARROW}\S|\S*\d{ARROW}{CLOCK})")
SETTINGS = re.compile(r"(?:[ \t]+[A-Za-z]\w{0,30}:\S{1,60})*[ \t]*")  # `align:start`, `X1:40`
NUMBER = re.compile(r"[ \t]*\d{1,7}[ \t]*")
BLOCK = re.compile(r"(?:NOTE|STYLE|REGION)(?:[ \t]|$)")
LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|$)")
TAG = r"</?(?:i|b|u|s|c|v|lang|ruby|rt|font)(?=[ .\t>/])[^<>\n]{0,200}>"
MARKUP = re.compile(TAG + r"|\{\\[^{}\n]{0,100}\}|(?P<blank><br ?/?>|\\N)", re.I)
VTT_MARKUP = re.compile(
    rf"<v(?:\.[^\s<>]{{1,40}})?[ \t](?P<voice>[^<>\n]{{1,200}})>|{TAG}|<(?P<time>{CLOCK})>|(?P<blank><br ?/?>)")


class Line(NamedTuple):
    """A line of a file: characters [start, stop), and where the next one starts."""

    text: str
    start: int
    stop: int
    next: int


def is_vtt(text: str) -> bool:
    """Whether a file says that it is WebVTT."""
    return re.match(r"\ufeff?WEBVTT(?:[ \t\r\n]|\Z)", text[:10], re.I) is not None


def lines_of(text: str) -> Iterator[Line]:
    """The lines of a text; they end as any system ends them."""
    for found in LINE.finditer(text):
        if found[0]:
            yield Line(found[1], found.start(), found.end(1), found.end())


def find_cues(source: Source, times: re.Pattern[str] = TIMES, named: bool = False) -> Iterator[Cue]:
    """The cues of a file.

    named   a cue may have a name for a number, as in WebVTT

    Raises InputError for a line with an arrow between what are no times.
    """
    before: list[Line] = []  # lines since the last times
    cue: Cue | None = None
    block = False
    for line in lines_of(source.text):
        found = times.fullmatch(line.text)
        if not found and ">" in line.text and BROKEN.match(line.text):
            raise source.error("no times of a cue", "write: 00:00:01,500 --> 00:00:02,750", line.start)
        if found:
            if cue:
                yield cue._replace(stop=_end(before, named))
            more = found.start("more") if not SETTINGS.fullmatch(found["more"]) else len(line.text)
            start = line.start + more if more < len(line.text) else line.next
            cue, before, block = Cue(seconds(found["begin"]), seconds(found["end"]), start, start), [], False
            before.append(Line("", start, start, start))
        elif cue and not block:
            block = named and BLOCK.match(line.text) is not None and not before[-1].text.strip()
            if not block:
                before.append(line)
            else:
                yield cue._replace(stop=before[-1].next)
                cue = None
    if cue:
        yield cue._replace(stop=before[-1].next)


def _end(lines: list[Line], named: bool) -> int:
    """Where the text of a cue ends, given its lines and those of the number or name of the next one."""
    last = len(lines) - 1
    if named and last > 1 and lines[last].text.strip() and not lines[last - 1].text.strip():
        return lines[last].start
    while last > 0 and not lines[last].text.strip():  # a blank line between a number and its times
        last -= 1
    return lines[last].start if last > 0 and NUMBER.fullmatch(lines[last].text) else lines[-1].next


def read_cues(source: Source, name: str, times: re.Pattern[str] = TIMES,
              markup: re.Pattern[str] = MARKUP) -> Transcript:
    """Read SRT, WebVTT or SBV. Raises InputError as `find_cues`."""
    named = name == "WebVTT"
    cues = list(find_cues(source, times, named))
    document = PartsDocument(source)
    reader = TextReader(source, document, markup, dashes=True)
    rolls = rolling.roll(source.text, cues, markup)
    if rolls:
        repeats = rolling.read(source, document, reader, cues, rolls)
        message = f"rolling captions: {len(repeats)} lines that are shown again are read once"
        return Transcript(name, reader.texts, document, repeats, notes=[message], encoding=source.encoding)
    voices = named and "<v" in source.text
    for number, cue in enumerate(cues):
        reader.read(Stretch(cue.start, cue.stop, cue.begin, cue.end, segment=number), keep_speaker=not voices)
    return Transcript(name, reader.texts, document, encoding=source.encoding)


def read_srt(source: Source) -> Transcript:
    """Read SRT."""
    return read_cues(source, "SRT")


def read_vtt(source: Source) -> Transcript:
    """Read WebVTT."""
    return read_cues(source, "WebVTT", markup=VTT_MARKUP)


def read_sbv(source: Source) -> Transcript:
    """Read SBV, as YouTube writes it."""
    return read_cues(source, "SBV", SBV_TIMES)
