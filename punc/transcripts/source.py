"""Reads text files, and separates the texts that contain words from the characters between these texts."""

import codecs
import math
import os
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from punc.base.errors import InputError, StrPath
from punc.base.files import open_input
from punc.transcripts import entities
from punc.transcripts.clock import seconds
from punc.transcripts.speakers import Label, find_label
from punc.transcripts.transcript import BEGINS_WITH_BLANK, BLANKS, Text, Transcript, in_order, split

RAW = re.compile("[\udc80-\udcff]")  # characters that stand for bytes that are not UTF-8
BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
BINARY = (  # files that are no transcripts: how they begin, what they are, and the remedy
    (rb"\x1f\x8b", "compressed", "gunzip it"),
    (rb"#![ \t]?/", "a script", "give what a recogniser wrote"),
    (rb"\d{3}STL\d\d\.\d\d", "EBU subtitles", "save them as SRT"),
    (rb"PK\x03\x04|\xd0\xcf\x11\xe0|%PDF", "a document or an archive", "save it as plain text"),
    (rb"ID3[\x02-\x04]|\xff[\xe2-\xfb]|RIFF....WAVE|OggS|fLaC|FORM....AIF|\x1aE\xdf\xa3|....ftyp", "a recording",
     "give what a recogniser wrote"))
ENDS_WITH_BLANK = re.compile(rf"[\s{BLANKS}]$")
LINE = re.compile(r"[^\n\r]+")


class Source(NamedTuple):
    """The text of a file, with its original line ends. Lone surrogates stand for bytes that are not UTF-8."""

    path: str
    text: str
    encoding: str

    def line(self, at: int) -> int:
        return self.text.count("\n", 0, at) + 1

    def error(self, what: str, remedy: str, at: int = 0) -> InputError:
        return InputError(what, remedy, self.path, self.line(at))

    def not_utf8(self, at: int) -> InputError:
        windows = re.search("[\udc80-\udc9f]", self.text)  # in ISO 8859, these bytes are control characters
        name = "WINDOWS-1252" if windows else "ISO-8859-1"
        return self.error("not UTF-8", f"convert it: iconv -f {name} -t UTF-8, if it is in that encoding", at)


def read_source(path: StrPath) -> Source:
    """Read the text of a file. Raises InputError if the file cannot be read or `source_of` cannot decode it."""
    with open_input(path) as file:
        return source_of(file.read(), path)


def source_of(raw: bytes, path: StrPath) -> Source:
    """Decode bytes as UTF-16 (after a byte-order mark) or UTF-8. Raises InputError for empty files, binary files and
    invalid UTF-16."""
    for beginning, what, remedy in BINARY:
        if re.match(beginning, raw, re.DOTALL):
            raise InputError(f"not text: {what}", remedy, path)
    encoding = next((name for bom, name in BOMS if raw.startswith(bom)), "utf-8")
    try:
        text = raw.decode(encoding, "strict" if encoding == "utf-16" else "surrogateescape")
    except UnicodeDecodeError as error:
        raise InputError("not UTF-16, although it begins with a UTF-16 byte order mark", "save it as UTF-8", path,
                         raw.count(b"\n", 0, error.start) + 1) from None
    if raw.startswith(codecs.BOM_UTF16_BE):
        encoding = "utf-16-be"
    source = Source(os.fspath(path), text, encoding)
    if (at := text.find("\0")) >= 0:
        raise source.error("a NUL byte", "remove it: the file is not text, or is broken", at)
    if not text.strip():
        raise InputError("the file is empty", "let the recogniser write it again", path)
    return source


def encoded(text: str, encoding: str) -> bytes:
    """Encode a text in the `encoding` of a Source."""
    if encoding == "utf-16-be":
        return codecs.BOM_UTF16_BE + text.encode("utf-16-be")
    return text.encode(encoding, "surrogateescape" if encoding != "utf-16" else "strict")


class PartsDocument:
    """A file in which texts can be replaced. Places are added from left to right. For `escapes`, see `TextReader`."""

    rated = False

    def __init__(self, source: Source, escapes: tuple[tuple[str, str], ...] = ()):
        self._source, self._escapes = source, escapes
        self._parts: list[str] = []
        self._at = 0

    def place(self, start: int, stop: int) -> int:
        """Add the characters [start, stop) as a place, which must come after all earlier places, and return its
        number."""
        assert self._at <= start <= stop
        self._parts += [self._source.text[self._at:start], self._source.text[start:stop]]
        self._at = stop
        return len(self._parts) - 1

    def read(self, place: int) -> str:
        """Return the text at a place, with its escapes decoded."""
        text = self._parts[place]
        for char, written in self._escapes:
            text = text.replace(written, char)
        return entities.decoded(text)

    def put(self, place: int, text: str, probability: float = math.nan) -> None:
        text = entities.encoded(text, self._parts[place])
        for char, written in self._escapes:
            text = text.replace(char, written)
        self._parts[place] = text

    def content(self) -> str:
        return "".join([*self._parts, self._source.text[self._at:]])


class Stretch(NamedTuple):
    """Characters [start, stop) of a file that are spoken between two times, and what the file states about them."""

    start: int
    stop: int
    begin: float = math.nan
    end: float = math.nan
    speaker: str = ""
    segment: int = 0
    stream: int = 0
    recording: str = ""
    confidence: float = math.nan


class TextReader:
    """Cuts stretches of a file into texts at markup and at speaker labels.

    markup   matches the parts of a stretch that are not words. Its group `time` matches the start time of the next
             word, `voice` matches the speaker's name, and `blank` matches markup that ends a word, such as `<br>`
    dashes   whether a dash at the beginning of a line begins a turn
    escapes  pairs of a text and its form in the file, such as a doubled quote
    """

    def __init__(self, source: Source, markup: re.Pattern[str] | None = None, dashes: bool = False,
                 escapes: tuple[tuple[str, str], ...] = ()):
        self._source, self._markup, self._dashes = source, markup, dashes
        self.document = PartsDocument(source, escapes)
        self.texts: list[Text] = []
        self._speaker = ""

    @cached_property
    def _has_labels(self) -> bool:
        lines = (line[0] for line in LINE.finditer(self._source.text) if ":" in line[0])
        return any(label.sure for label in map(find_label, lines) if label)

    def read(self, stretch: Stretch, keep_speaker: bool = True) -> None:
        """Read a stretch. With `keep_speaker`, the last speaker of the previous stretch continues, unless this stretch
        names a speaker."""
        first, text, turn = len(self.texts), self._source.text, False
        speaker = stretch.speaker or (self._speaker if keep_speaker else "")
        begin, goes_on = stretch.begin, False  # `goes_on`: whether the previous text ends without a space
        for start, stop, cut in self.cuts(stretch):
            if words := text[start:stop]:
                if split(words):
                    place = self.document.place(start, stop)
                    joined = goes_on and not BEGINS_WITH_BLANK.match(words)
                    self.texts.append(Text(place, self.document.read(place), begin, math.nan, speaker,
                                           stretch.confidence, stretch.segment, stretch.stream, stretch.recording,
                                           joined, turn=turn))
                    begin, turn = math.nan, False
                goes_on = not ENDS_WITH_BLANK.search(words)
            if isinstance(cut, Label):
                speaker, turn, goes_on = cut.name, True, False
            elif cut is not None:
                groups = cut.groupdict()
                if groups.get("time"):
                    begin = seconds(groups["time"])
                if groups.get("voice"):
                    speaker = entities.decoded(groups["voice"]).strip()
                goes_on = goes_on and not groups.get("blank")
        self._speaker = speaker
        if len(self.texts) > first:
            self.texts[-1] = self.texts[-1]._replace(end=stretch.end)

    def read_label(self, line: str) -> None:
        """Read a line without times. If the line is a speaker label, the speaker that it names speaks next."""
        label = find_label(line, self._dashes)
        if label and label.name and not line[label.size:].strip():
            self._speaker = label.name

    def transcript(self, format: str, **more: Any) -> Transcript:
        return Transcript(format, in_order(self.texts), self.document, encoding=self._source.encoding, **more)

    def cuts(self, stretch: Stretch) -> Iterator[tuple[int, int, Label | re.Match[str] | None]]:
        """Yield the pieces [start, stop) of a stretch, each with the label or markup after it; None for the last."""
        text, at, line_start = self._source.text, stretch.start, True
        found = self._markup.finditer(text, stretch.start, stretch.stop) if self._markup else ()
        for cut in [*found, None]:
            stop = cut.start() if cut else stretch.stop
            for line in LINE.finditer(text, at, stop):
                if line.start() > at or line_start:
                    label = find_label(line[0], self._dashes, goes_on=cut is not None and line.end() == stop)
                    if label and (label.sure or self._has_labels):
                        yield at, line.start(), label
                        at = line.start() + label.size
            yield at, stop, cut
            if cut:
                before = text[at:stop].rpartition("\n")
                blank = bool(cut.groupdict().get("blank"))
                line_start = blank or (not before[2].strip() and (line_start or bool(before[1])))
                at = cut.end()
