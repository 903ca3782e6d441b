"""Reads plain text. Refuses tables, logs and other structured files, because marks would damage their structure.

An empty line ends a stream; any other line end counts as a space. A name and a colon at the start of a line are a
speaker label.
"""

import re
from itertools import pairwise

from punc.base.errors import InputError
from punc.transcripts.source import LINE, Source, Stretch, TextReader
from punc.transcripts.transcript import Transcript

EMPTY_LINE = re.compile(r"\n[ \t\r]*\n\s*")
JSON = re.compile(r"[{\[]\s{0,80}\"[\w -]{1,40}\"\s{0,9}:")
DATE = r"(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4},?[ \t])?"
STAMP = rf"[(\[]?{DATE}\d{{1,3}}:\d{{2}}(?::\d{{2}})?(?:[.,]\d{{1,3}})?[)\]]?"
STRUCTURED = (".srt", ".vtt", ".sbv", ".ass", ".ssa", ".sub", ".ttml", ".smi", ".json", ".ctm", ".stm", ".textgrid",
              ".eaf", ".mlf", ".rttm", ".xml", ".lrc", ".csv", ".tsv", ".docx", ".pdf")  # endings of other formats
FACTS = "Title|Date|Time|Duration|Author|Language|Source|File|URL|Kind|Subject|Recorded|Created|Location|Participants"
# Not speech, and not changed: headings, lines such as `-----`, `Title: …` or `00:05:00`, and times alone or before
# words.
HEADING, RULE, FACT = r"#{1,6}[ \t][^\n]*(?<!#)", r"[-=_*]{3,}[ \t]*", rf"(?:{FACTS}):[ \t][^\n]*"
TIMES = rf"{STAMP}(?:[ \t]*[-–][ \t]*{STAMP})?[ \t]*"
NO_SPEECH = re.compile(rf"^[ \t]*(?:(?:{HEADING}|{RULE}|{FACT}|{TIMES})$|{STAMP}(?=[ \t]+[^\W\d])[ \t]+)", re.M)
WITHOUT_TIMES = re.compile(rf"^[ \t]*(?:{HEADING}|{RULE}|{FACT}|\d{{1,2}}:\d\d:\d\d[ \t]*)$", re.M)
STAMPED = re.compile(rf"[ \t]*{STAMP}(?:[ \t].*)?")
SHARE = 0.3  # a file is refused if at least this share of the lines that are checked matches a pattern in LOOKS
HEAD = 1000  # lines that are not empty; only this many are checked, from the beginning of the file
RTTM = re.compile(r"\s*SPEAKER\s+\S+\s+\S+\s+[\d.]+\s+[\d.]+\s+<NA>")
INSIST = "or give --format text, if it is text"
TABLE = "write TSV as Whisper does, `start end text`, or CTM"
TABLES = (".csv", ".tsv")
LOOKS = [  # what a file looks like; a pattern for its lines; the minimum number of lines that match; what to do
    ("a log or a table of times", re.compile(r"[^\n]{0,40}?\d{1,2}:\d{2}:\d{2}[^\n]{0,20}?(?:->|→|\|).*"), 1,
     "write SRT or WebVTT"),
    ("a table of times", re.compile(r"[^\n]{0,40}?\d:\d{2}:\d{2}[^\n]{1,9}\d:\d{2}:\d{2}.*"), 1, "write SRT or WebVTT"),
    ("a table of times", re.compile(r"\[?\d{1,9}\.\d{1,9}s?[ \t]*(?:-|–|->|-->|→)[ \t]*\d{1,9}\.\d{1,9}.*"), 1, TABLE),
    ("a table of times", re.compile(r"\d{1,12}(?:\.\d{1,9})?[ \t]+\d{1,12}(?:\.\d{1,9})?[ \t]+\S.*"), 2, TABLE),
    ("Scenarist captions", re.compile(r"\d\d:\d\d:\d\d[:;]\d\d\t[0-9a-f ]+", re.I), 1, "save them as SRT"),
    ("MPL2 subtitles", re.compile(r"\[\d{1,9}\]\[\d{1,9}\].*"), 1, "save them as SRT"),
    ("CHAT", re.compile(r"@(?:UTF8|Begin|End|Languages|Participants)\b.*|\*[A-Z0-9]{2,4}:\t.*"), 2,
     "export it as SRT, or its words as text"),
    ("markup", re.compile(r"\s*<(?:[!?/]|[A-Za-z][\w:.-]{0,30}[ />]).*>.*"), 1, "write TTML, or its words as text"),
    ("RTF or TeX", re.compile(r"\{\\rtf.*|\\(?:documentclass|begin)\b.*"), 1, "save it as plain text"),
    ("a table with tabs", re.compile(r"[^\t\n]*\t.*"), 2, TABLE),
    ("a table with bars", re.compile(r"[^|\n]*\|[^|\n]*\|.*"), 2, TABLE),
    ("a table with commas", re.compile(r"[^,\n\s]{1,40}(?:,[^,\n\s]{0,40}){2,}(?:,.*)?"), 2, TABLE),
    ("lines with ids", re.compile(rf"(?=[^ \t]*\d)[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)+[ \t]+(?!{STAMP}$)\S.*"), 2,
     "give the `text` of a Kaldi data directory"),
    ("code", re.compile(r".*[{};]\s*|\s*(?:#include|import|def|function|var|const)\b.*"), 3, "give what was said"),
]


def check_plain(source: Source) -> None:
    """Raise InputError for a file that does not look like plain text."""
    lines = [line[0] for line in LINE.finditer(source.text[:1 << 20]) if line[0].strip()][:HEAD]
    if source.path.lower().endswith(STRUCTURED):
        ending = source.path[source.path.rindex("."):]
        if ending.lower() in TABLES:
            raise source.error("a table in an unknown format", f"{TABLE}; {INSIST}")
        raise source.error(f"called {ending}, but not in that format", f"rename it to .txt; {INSIST}")
    if found := JSON.search(source.text[:1 << 20]):
        raise source.error("JSON after other text", f"remove the text before it; {INSIST}", found.start())
    for what, pattern, least, remedy in LOOKS:
        like = [line for line in lines if pattern.fullmatch(line)]
        if len(like) >= max(least, SHARE * len(lines)):
            at = source.text.find(like[0])
            raise InputError(f"it looks like {what}, not like plain text", f"{remedy}; {INSIST}", source.path,
                             source.line(at))


def read_text(source: Source) -> Transcript:
    cuts = [0, *(match.end() for match in EMPTY_LINE.finditer(source.text)), len(source.text)]
    reader = TextReader(source, NO_SPEECH if _has_times(source.text) else WITHOUT_TIMES)
    for stream, (start, stop) in enumerate(pairwise(cuts)):
        reader.read(Stretch(start, stop, segment=stream, stream=stream))
    return reader.transcript("text")


def _has_times(text: str) -> bool:
    """Return whether times at the beginning of lines tell when a line was said. If only a few lines begin with a time,
    and none of the times is in brackets, they belong to the text: `we meet at` / `10:30 tomorrow`."""
    lines = [line[0] for line in LINE.finditer(text) if line[0].strip()]
    stamped = [line for line in lines if STAMPED.fullmatch(line)]
    return 2 * len(stamped) >= len(lines) or 2 < len(stamped) >= len(lines) / 10 or any(
        line.lstrip()[0] in "[(" for line in stamped)
