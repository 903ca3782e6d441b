"""SubRip (SRT): numbered cues with `00:00:01,500 --> 00:00:02,750` and text.

Source: there is no standard; www.matroska.org/technical/subtitles.html says what programs read. Tags (`<i>`,
`{\\an8}`) are left as they are, and so is a speaker's name at the start of a line (`JOHN:`). Words have no times; the
first word of a cue begins with it, and the last one ends with it. Captions that roll are read once (rolling.py).
"""

import re

from punc.asr.captions import by_speaker, cues
from punc.asr.document import Document, Source
from punc.asr.rolling import unrolled, with_repeats
from punc.asr.segments import Segment, segments_document

AFTER = ("webvtt",)
FIRST = re.compile(rb"\s*(?:\d+[ \t]*\r?\n[ \t]*)?\d+:\d\d:\d\d[,.]\d{1,3}[ \t]*-->")
MARKUP = re.compile(rb"</?(?:[bius]|font|ruby|rt)(?=[ >])[^<>\n]*>|\{\\[^{}\n]*\}", re.I)


def recognises(data: bytes) -> bool:
    """Whether it begins with a cue."""
    return FIRST.match(data) is not None


def read(source: Source) -> Document:
    """Read a file. Raises InputError for times that are none."""
    found, repeats = unrolled(source, cues(source, to_blank_line=False), MARKUP)
    segments, names = by_speaker(source.data, [Segment(start, stop, begin, end) for begin, end, start, stop in found])
    markup = [match.span() for match in MARKUP.finditer(source.data)]
    return with_repeats(segments_document(source, "srt", segments, [*markup, *names]), repeats, markup)
