"""STM, NIST's segments with times: `id channel speaker begin end [<label>] word …`.

Source: NIST's SCTK, `doc/infmts.htm`. Comments (`;;`), labels and segments that are not to be scored stay as they are.
The speaker `inter_segment_gap` is none. A stream is a channel of an id.
"""

import re
from io import BytesIO

from punc.asr.document import Document, Source
from punc.asr.segments import Names, Segment, segments_document
from punc.asr.tokens import MARKS
from punc.base.errors import InputError
from punc.timing.ctm import seconds

LABEL = re.compile(r"<>|<[^>]*,[^>]*>|<o>", re.I)  # `<o,f0,male>` and `<>` are labels, `<unk>` is a word
AFTER = ("ctm", "vosk", "whisper", "whisperx", "srt", "webvtt", "textgrid")
NUMBER = rb"(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?"
LINE = re.compile(rb"[ \t]*([^\s;]\S*)[ \t]+(\S+)[ \t]+(\S+)[ \t]+(\S+)[ \t]+(\S+)"
                  rb"(?:[ \t]+(<[^>\n]*>)(?=\s|\Z))?[ \t]*([^\n]*)")
FIRST = re.compile(rb"(?:[ \t]*(?:;;[^\n]*)?\n)*[ \t]*[^\s;]\S*[ \t]+\S+[ \t]+\S+[ \t]+" + NUMBER + rb"[ \t]+" + NUMBER
                   + rb"(?:\s|\Z)")
NOT_SCORED = "ignore_time_segment_in_scoring"


def recognises(data: bytes) -> bool:
    """Whether the first line that is no comment has numbers in its fourth and fifth columns."""
    return FIRST.match(data) is not None


def read(source: Source) -> Document:
    """Read a file. Raises InputError for lines with fewer columns, and for times that are none."""
    segments, streams, at = [], Names[str](), 0
    for number, line in enumerate(BytesIO(source.data), 1):  # a carriage return alone is a blank, as in a CTM
        start, at = at, at + len(line)
        if not line.strip() or line.lstrip().startswith(b";;"):
            continue
        match = LINE.match(source.data, start, at)
        if not match:
            raise InputError(f"{len(line.split())} columns", "write: id channel speaker begin end words", source.path,
                             number)
        id, channel, speaker = (column.decode() for column in match.group(1, 2, 3))
        begin, end = (seconds(match[i].decode(), what, source.path, number) for i, what in ((4, "begin"), (5, "end")))
        if end < begin:
            raise InputError(f"a segment from {begin:g} to {end:g} s", "fix its times", source.path, number)
        first = match.start(7) if not match[6] or LABEL.fullmatch(match[6].decode()) else match.start(6)
        if match[7].decode().strip().lower().rstrip(MARKS) == NOT_SCORED:  # a new mark would make the word this
            continue
        segments.append(Segment(first, match.end(7), begin, end, streams[f"{id} {channel}"], id,
                                "" if speaker == "inter_segment_gap" else speaker))
    return segments_document(source, "stm", segments)
