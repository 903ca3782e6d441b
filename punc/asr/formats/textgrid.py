"""TextGrids of Praat and of the Montreal Forced Aligner, in the long and the short form.

Source: www.fon.hum.uva.nl/praat/manual/TextGrid_file_formats.html. The tier `words` is read, or all tiers called
`speaker - words`, as MFA writes several speakers; else every tier of intervals is a speaker, whose intervals may have
many words. Other tiers stay as they are.
"""

import re
from collections.abc import Sequence
from itertools import chain, islice, pairwise

from punc.asr.document import Document, Source
from punc.asr.segments import Segment, segments_document
from punc.timing.ctm import seconds
from punc.timing.textgrids import TEXTGRID_SILENCE

AFTER = ()
NUMBER = rb"(-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)"
QUOTED = rb'"((?:[^"]|"")*)"'
TIER = re.compile(rb'"(IntervalTier|TextTier)"\s+(?:name = )?' + QUOTED + rb"\s+(?:xmin = )?" + NUMBER
                  + rb"\s+(?:xmax = )?" + NUMBER + rb"\s+(?:(?:intervals|points): size = )?(\d{1,18})(?!\d)")
KINDS = b'"IntervalTier"', b'"TextTier"'
INTERVAL = re.compile(rb"^[ \t]*(?:xmin = )?" + NUMBER + rb"\s*\n[ \t]*(?:xmax = )?" + NUMBER
                      + rb"\s*\n[ \t]*(?:text = )?" + QUOTED, re.M)


def recognises(data: bytes) -> bool:
    """Whether its first lines say that it is a TextGrid."""
    return b'"TextGrid"' in data[:200]


def read(source: Source) -> Document:
    """Read a file. Raises InputError for a tier that is cut short, and for times that are none."""
    data = source.data
    tiers = list(TIER.finditer(data))
    if len(tiers) != sum(map(data.count, KINDS)):
        raise source.error("a tier without a name, times or size", "save the TextGrid again", 0)
    intervals = [(tier, tier[2].decode().replace('""', '"'), after.start() if after else len(data))
                 for tier, after in zip(tiers, [*tiers[1:], None]) if tier[1] == b"IntervalTier"]
    chosen = [one for one in intervals if one[1] == "words"] or \
        [one for one in intervals if one[1].endswith(" - words")] or intervals
    if not chosen:
        raise source.error("no tier of intervals", "save the TextGrid again", 0)
    segments = []
    for stream, (tier, name, stop) in enumerate(chosen):
        found = list(INTERVAL.finditer(data, tier.end(), stop))
        if len(found) != int(tier[5]):
            raise source.error(f"tier '{name}' has {len(found)} intervals, but its size is {int(tier[5])}",
                               "the file is cut short, or broken: save it again", tier.start())
        gaps = pairwise([tier.end(), *chain.from_iterable(match.span() for match in found), stop])
        for low, high in islice(gaps, 0, None, 2):
            if (at := data.find(b'"', low, high)) >= 0:  # the size does not count it
                raise source.error("a text whose interval has no times", "write two numbers, a line each", at)
        speaker = "" if name == "words" or len(chosen) == 1 else name.removesuffix(" - words")
        for match in found:
            if match[3].strip().decode() not in TEXTGRID_SILENCE:
                line = source.line(match.start(1)) if b"-" in match[1] + match[2] else 0
                begin, end = (seconds(match[i].decode(), "time", source.path, line) for i in (1, 2))
                segments.append((match.start(3), match.end(3), begin, end, stream, "", speaker))
    return segments_document(source, "textgrid", [Segment(*one) for one in sorted(segments)], (), quoted, unquoted)


def quoted(texts: Sequence[str]) -> list[bytes]:
    """Texts as they stand in quotes."""
    return [text.replace('"', '""').encode() for text in texts]


def unquoted(text: str) -> str:
    """The text of what stands in quotes."""
    return text.replace('""', '"')
