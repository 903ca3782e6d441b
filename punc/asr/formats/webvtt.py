"""WebVTT: cues with `00:01.500 --> 00:02.750` and text with markup.

Source: www.w3.org/TR/webvtt1, sections 4.1 to 4.2.2. Tags, notes and styles stay as they are. `<v Name>` says the
speaker, `<00:01.800>` when the next word begins. `&amp;`, `&lt;`, `&gt;`, `&nbsp;` are characters. Captions that roll
are read once (rolling.py).
"""

import re
from collections.abc import Sequence
from html import unescape

import numpy as np

from punc.asr.captions import CLOCK, by_speaker, cues, seconds
from punc.asr.document import Document, Source
from punc.asr.rolling import unrolled, with_repeats
from punc.asr.segments import Segment, segments_document

AFTER = ()
MARKUP = re.compile(rb"</?(?:c|i|b|u|v|lang|ruby|rt)(?=[ .\t>])[^<>\n]*>|<" + CLOCK + rb">")
# To programs, all up to the `>` is a tag; to us, the words in it are words.
OPEN = re.compile(rb"</?(?:c|i|b|u|v|lang|ruby|rt)(?=[ .\t])[^<>\n]*<[^>\n]*>")
VOICE = re.compile(rb"<v(?:\.[^\s<>]+)?[ \t]+([^<>\n]+)>")


def recognises(data: bytes) -> bool:
    """Whether it begins with WEBVTT."""
    return re.match(rb"WEBVTT(?:[ \t\r\n]|\Z)", data) is not None


def read(source: Source) -> Document:
    """Read a file. Raises InputError for times that are none, and for a tag in a tag."""
    data, segments = source.data, []
    found, repeats = unrolled(source, cues(source, to_blank_line=True), MARKUP)
    for begin, end, start, stop in found:
        if unclosed := OPEN.search(data, start, stop):
            raise source.error("a tag that is not closed before the next one", "close it, or write &lt; for its <",
                               unclosed.start())
        voices = list(VOICE.finditer(data, start, stop))
        bounds = [start, *(voice.start() for voice in voices), stop]
        names = ["", *(unescape(voice[1].decode()).strip() for voice in voices)]
        parts = [(name, low, high) for name, low, high in zip(names, bounds, bounds[1:]) if data[low:high].strip()]
        for number, (name, low, high) in enumerate(parts):
            segments.append(Segment(low, high, begin if number == 0 else np.nan,
                                    end if number == len(parts) - 1 else np.nan, speaker=name))
    named = any(segment.speaker for segment in segments)
    segments, labels = by_speaker(data, segments, keep=not named)
    markup = list(MARKUP.finditer(data))
    tags = [match.span() for match in markup]
    document = segments_document(source, "webvtt", segments, [*tags, *labels], escaped, unescape)
    for match in (match for match in markup if match[1]):
        at = int(np.searchsorted(document.starts, match.end()))
        if at < len(document.starts) and not MARKUP.sub(b"", data[match.end():document.starts[at]]).strip():
            document.begins[at] = seconds(match[1])
    return with_repeats(document, repeats, tags)


def escaped(texts: Sequence[str]) -> list[bytes]:
    """Texts as cues have them."""
    return [text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").encode() for text in texts]
