"""Reads formats with one segment per line. FORMATS describes each format by a regular expression for a line. The
expression's groups `text`, `begin`, `end` and `speaker` match the parts of the line.
"""

import math
import re
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from functools import partial
from itertools import islice
from typing import NamedTuple

from punc.base.errors import InputError
from punc.transcripts.clock import number, seconds
from punc.transcripts.source import LINE, Source, Stretch, TextReader
from punc.transcripts.transcript import Transcript

CLOCK = r"(?:\d{1,3}:)?\d{1,3}:\d{1,2}(?:[.,:]\d{1,3})?"
SECONDS = r"\d{1,6}\.\d{1,3}s"
PLAIN_NUMBER = r"-?\d{1,12}(?:\.\d{1,12})?"
LRC_STAMP = r"\[\d{1,4}:\d{1,2}(?:[.:]\d{1,3})?\]"
FILM = 23.976  # frames/s, the usual rate of films
HEAD = 2000  # the maximum number of lines that are read to find the format
ASS_FIELDS = "Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text"
ASS_FORMAT = re.compile(r"^\[Events\]\s*^Format:[ \t]*(.*)", re.I | re.M)
# Braces hold commands. From `\p1` to `\p0`, the text is a drawing.
ASS_MARKUP = re.compile(r"\{[^{}\n]{0,200}\\p[1-9][^{}\n]{0,200}\}[^\n]*?(?:\{[^{}\n]{0,200}\\p0[^{}\n]{0,200}\}|$)"
                        r"|\{[^{}\n]{0,200}\}|(?P<blank>\\[Nnh])")
RATE_LINE = r"\{1\}\{1\}\s*[\d.]+\s*"  # of MicroDVD
MICRODVD_RATE = re.compile(r"\s*\{1\}\{1\}[ \t]*(\d{2,3}(?:\.\d{1,3})?)[ \t\r]*(?:\n|$)")


class LineFormat(NamedTuple):
    """A format with one segment per line."""

    name: str
    writers: str  # the programs that write the format
    line: re.Pattern[str]  # matches a line with words
    other: re.Pattern[str] | None = None  # matches a line without words; None: only empty lines have no words
    head: re.Pattern[str] | None = None  # matches the header line, if the format has one
    time: Callable[[str], float] = seconds
    markup: re.Pattern[str] | None = None  # matches the parts of a text that are not words
    dashes: bool = False  # whether a dash at the beginning of a line begins a turn

    def of(self, text: str) -> "LineFormat":
        """Return the format with the fields and the frame rate that a file names at its beginning."""
        if self.name == "ASS" and (fields := ASS_FORMAT.search(text)):
            return self._replace(line=_dialogue(fields[1]))
        if self.name == "MicroDVD" and (rate := MICRODVD_RATE.match(text)):
            return self._replace(time=partial(number, unit=float(rate[1])))
        return self


def _dialogue(fields: str) -> re.Pattern[str]:
    """Return the pattern of a line of ASS, given the names of its fields, of which the last is the text."""
    names = [name.strip().lower() for name in fields.split(",")]
    groups = {"start": rf"\s*(?P<begin>{CLOCK})\s*", "end": rf"\s*(?P<end>{CLOCK})\s*", "name": r"(?P<speaker>[^,\n]*)"}
    parts = [groups.pop(name.replace("actor", "name"), r"[^,\n]*") for name in names[:-1]]
    return re.compile(r"Dialogue:" + ",".join([*parts, "(?P<text>.*)"]))


FORMATS = [
    LineFormat("ASS", "Aegisub and others; also SSA",
               _dialogue(ASS_FIELDS), re.compile(r"(?!Dialogue:).*"), re.compile(r"\[Script Info\]", re.I),
               markup=ASS_MARKUP, dashes=True),
    LineFormat("TSV of Whisper", "`whisper --output_format tsv`",
               re.compile(r"(?P<begin>\d{1,12})\t(?P<end>\d{1,12})\t(?P<text>.*)"),
               head=re.compile(r"start\tend\ttext\s*", re.I), time=partial(number, unit=1000)),
    LineFormat("labels of Audacity", "Audacity",
               re.compile(rf"(?P<begin>{PLAIN_NUMBER})\t(?P<end>{PLAIN_NUMBER})"
                          r"(?:(?:\t(?P<speaker>[^\t]*))?\t(?P<text>[^\t]*))?"),
               re.compile(r"\\\t.*"), time=number),
    LineFormat("MicroDVD", "subtitles in frames",
               re.compile(rf"(?!{RATE_LINE}$)" r"\{(?P<begin>\d{1,9})\}\{(?P<end>\d{0,9})\}(?P<text>.*)"),
               re.compile(RATE_LINE), time=partial(number, unit=FILM),
               markup=re.compile(r"\{[A-Za-z]:[^{}\n]{0,100}\}|(?P<blank>\|)"), dashes=True),
    LineFormat("LRC", "lyrics, also with word times",
               re.compile(rf"(?P<begin>{LRC_STAMP})(?:{LRC_STAMP}){{0,20}}(?P<text>.*)"),
               re.compile(r"\[[A-Za-z#]\w{0,20}:.*\]\s*"), time=lambda text: seconds(text.strip("[]")),
               markup=re.compile(rf"<(?P<time>{CLOCK})>")),
    LineFormat("lines with times", "`[00:01.000 --> 00:02.000] text` of Whisper in a terminal, and others", re.compile(
        rf"\s*[\[(]\s*(?P<begin>{CLOCK}|{SECONDS})\s*(?:-{{1,2}}>|-|–|→)\s*(?P<end>{CLOCK}|{SECONDS})\s*[\])]:?"
        r"(?P<text>.*)"),
        re.compile(r"\s*\[?(?:speaker|spk)[ _-]?\d{1,4}\]?:?\s*|Detect(?:ing|ed) language\b.*", re.I),
        time=lambda text: seconds(text.rstrip("s"))),
]


def read_lines(source: Source, row: LineFormat) -> Transcript:
    """Read a file in the format `row`. Raises InputError for an invalid line."""
    row = row.of(source.text)
    reader = TextReader(source, row.markup, row.dashes)
    for at, line, found in _lines(source, row):
        if not found:
            reader.read_label(line[0])
            continue
        groups = found.groupdict()
        if groups["text"] is None:
            continue
        begin, end = (row.time(groups[name]) if groups.get(name) else math.nan for name in ("begin", "end"))
        start = line.start() + found.start("text")
        reader.read(Stretch(start, line.end(), begin, end, (groups.get("speaker") or "").strip(), at))
    return reader.transcript(row.name)


def _lines(source: Source, row: LineFormat) -> Iterator[tuple[int, re.Match[str], re.Match[str] | None]]:
    for at, line in enumerate(LINE.finditer(source.text)):
        if not line[0].strip() or (at == 0 and row.head and row.head.match(line[0])):
            continue
        found = row.line.fullmatch(line[0])
        if (at == 0 and row.head) or not (found or (row.other and row.other.fullmatch(line[0]))):
            raise source.error(f"not a line of {row.name}", "write it like the other lines", line.start())
        yield at, line, found


def find_format(source: Source) -> LineFormat | None:
    """Return the format that the first lines of a file match; None if there is none. Raises InputError if a file has
    the header of a format, but other lines."""
    for row in FORMATS:
        row = row.of(source.text)
        has_head = row.head and row.head.match(source.text)
        with nullcontext() if has_head else suppress(InputError):
            if sum(found is not None for _, _, found in islice(_lines(source, row), HEAD)):
                return row
    return None
