"""Plain text. An empty line ends a text; other line ends mean nothing.

A name that begins a line (`John Smith:`, `SPEAKER_00:`) is a speaker, and stays as it is. A text has no times.
"""

import re
from itertools import pairwise

from punc.asr.captions import by_speaker
from punc.asr.document import Document, Source
from punc.asr.segments import Segment, segments_document

AFTER = ("ctm", "srt", "stm", "textgrid", "vosk", "webvtt", "whisper", "whisperx")
EMPTY_LINE = re.compile(rb"\n[ \t\r]*\n\s*")


def recognises(data: bytes) -> bool:
    """Whether it is no markup or JSON."""
    return not re.match(rb"\s*(?:[{]\s*[\"}]|\[\s*[\[{\"]|<[?!]|%PDF)", data)


def read(source: Source) -> Document:
    """Read a file."""
    cuts = [0, *(match.end() for match in EMPTY_LINE.finditer(source.data)), len(source.data)]
    texts = [Segment(start, stop, stream=number) for number, (start, stop) in enumerate(pairwise(cuts))]
    segments, names = by_speaker(source.data, texts)
    return segments_document(source, "text", segments, names)
