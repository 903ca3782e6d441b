"""Reads the texts of XML and similar files: TTML, SAMI, YouTube's captions (srv1, srv3), and ELAN's EAF. In TTML,
spans can have times of their own.

All elements and entities stay unchanged. Source: www.w3.org/TR/ttml1; Microsoft's "Understanding SAMI 1.0";
www.mpi.nl/tools/elan/EAF_Annotation_Format_3.0.pdf.
"""

import math
import re
from collections.abc import Iterator
from itertools import pairwise

from punc.transcripts import entities
from punc.transcripts.clock import FRAMES, number, seconds
from punc.transcripts.source import Source, Stretch, TextReader
from punc.transcripts.transcript import Transcript

FORMS = {"<annotation_document": "EAF", "<sami": "SAMI", "<tt": "TTML", "<transcript>": "captions of YouTube",
         "<timedtext": "captions of YouTube"}
HEAD = 4000  # characters at the beginning of a file that name its format and its rates
TAG = re.compile(r"<!--(?:(?!-->).)*(?:-->)?|(?P<blank><(?:\w+:)?br\b[^<>]*>)|<!\[CDATA\[|\]\]>"
                 r"|<[/!?A-Za-z][^<>]*>", re.S | re.I)
ELEMENT = re.compile(r"<(?:\w+:)?(?P<name>p|text)\b(?P<attributes>[^<>]*?)(?P<empty>/?)>", re.I)
ATTRIBUTE = re.compile(r"([\w:.-]{1,40})\s{0,9}=\s{0,9}(?:\"([^\"<>]*)\"|'([^'<>]*)'|([^\s\"'<>]+))")
SYNC = re.compile(r"<sync\b[^<>]*?\bstart\s{0,9}=\s{0,9}[\"']?(?P<begin>-?\d{1,12})[^<>]*>", re.I)
SLOT = re.compile(r"<TIME_SLOT\b[^<>]*>")
ANNOTATION = re.compile(r"<(?:ALIGNABLE|REF)_ANNOTATION\b(?P<attributes>[^<>]*)>\s*"
                        r"<ANNOTATION_VALUE>(?P<text>[^<]*)</ANNOTATION_VALUE>")
AGENT = re.compile(r"<ttm:agent\b([^<>]*)>(?:\s*<ttm:name\b[^<>]*>([^<]*)</ttm:name>)?")
SPAN = re.compile(r"<(?:\w+:)?span\b(?P<attributes>[^<>]*?\bbegin\s{0,9}=[^<>]*)>"
                  r"[^<>]*(?:<(?:\w+:)?br\b[^<>]*>[^<>]*)*</(?:\w+:)?span\s*>", re.I)
TIER = re.compile(r"<TIER\b(?P<attributes>[^<>]*)>")
ESCAPES = (("<?", "&lt;?"), ("<!", "&lt;!"))  # unescaped, a restored ? or ! after a bare < would begin a tag
RATE = re.compile(r"\bttp:(tickRate|frameRate|frameRateMultiplier)\s*=\s*[\"'](\d{1,12})(?:[ :](\d{1,12}))?")


def attributes(text: str) -> dict[str, str]:
    found = ATTRIBUTE.findall(text)
    return {name.rpartition(":")[2].lower(): entities.decoded(double or single or bare)
            for name, double, single, bare in found}


def offset(text: str, tick_rate: float = 1, frame_rate: float = FRAMES) -> float:
    """Convert a time in TTML, such as `00:00:01.5` or `1500ms`, to seconds; NaN if invalid."""
    unit = re.search(r"[a-z]*$", text)
    digits = text.removesuffix(unit[0] if unit else "")
    if ":" in digits:
        return seconds(digits, frame_rate)
    units = {"h": 1 / 3600, "m": 1 / 60, "s": 1.0, "": 1.0, "ms": 1000.0, "f": frame_rate, "t": tick_rate}
    return number(digits, units.get(unit[0] if unit else "", math.nan))


def form_of(text: str) -> str:
    head = text[:HEAD].lower()
    return next((name for element, name in FORMS.items() if element in head), "")


def read_markup(source: Source, name: str) -> Transcript:
    """Read a file in the format `name`: `TTML`, `SAMI`, `captions of YouTube` or `EAF`. Raises InputError if an element
    is not closed."""
    if name == "EAF":
        return read_eaf(source)
    reader = TextReader(source, TAG, dashes=True, escapes=ESCAPES)
    for stretch in _sami(source) if name == "SAMI" else _elements(source, name):
        reader.read(stretch)
    return reader.transcript(name)


def _elements(source: Source, name: str) -> Iterator[Stretch]:
    rates = {key: int(value) / int(divisor or 1) for key, value, divisor in RATE.findall(source.text[:HEAD])}
    frames = rates.get("frameRate", FRAMES) * rates.get("frameRateMultiplier", 1.0)
    rate = rates.get("tickRate", 1.0)
    agents = {attributes(said).get("id", ""): entities.decoded(called).strip()
              for said, called in AGENT.findall(source.text)}
    at = segment = 0

    def times(said: dict[str, str]) -> tuple[float, float]:
        begin, end = (offset(said.get(key, ""), rate, frames) for key in ("begin", "end"))
        return begin, begin + offset(said.get("dur", ""), rate, frames) if math.isnan(end) else end

    while element := ELEMENT.search(source.text, at):
        at = element.end()
        if element["empty"]:
            continue
        close = re.compile(rf"</(?:\w+:)?{element['name']}\s*>", re.I).search(source.text, at)
        if not close:
            raise source.error(f"<{element['name']}> is not closed", "the file is cut short, or broken: write it again",
                               element.start())
        said = attributes(element["attributes"])
        if name == "TTML":
            begin, end = times(said)
        else:
            unit = 1000 if "t" in said else 1
            begin = number(said.get("t", said.get("start", "")), unit)
            end = begin + number(said.get("d", said.get("dur", "")), unit)
        agent = said.get("agent", "")
        whole = Stretch(at, close.start(), begin, end, agents.get(agent) or agent, segment)
        # In Apple's transcripts of podcasts, spans have the times of words.
        spans = [*SPAN.finditer(source.text, at, close.start())] if name == "TTML" else []
        bounds = [whole.start, *(span.start() for span in spans[1:]), whole.stop]
        for span, (start, stop) in zip(spans, pairwise(bounds)):
            begin, end = times(attributes(span["attributes"]))
            yield whole._replace(start=start, stop=stop, begin=begin, end=end)
        if not spans:
            yield whole
        at, segment = close.end(), segment + 1


def _sami(source: Source) -> Iterator[Stretch]:
    found = list(SYNC.finditer(source.text))
    for segment, (match, after) in enumerate(zip(found, [*found[1:], None])):
        end = after.start() if after else source.text.lower().find("</body", match.end())
        stop = end if end >= 0 else len(source.text)
        until = int(after["begin"]) / 1000 if after else math.nan
        yield Stretch(match.end(), stop, int(match["begin"]) / 1000, until, segment=segment)


def read_eaf(source: Source) -> Transcript:
    """Read an annotation file of ELAN. Each tier is a stream. Its participant, or else its id, is the
    speaker. Tiers that depend on another tier stay unchanged."""
    slots = {}
    for slot in map(attributes, SLOT.findall(source.text)):
        slots[slot.get("time_slot_id", "")] = number(slot.get("time_value", ""), 1000)
    reader = TextReader(source)
    tiers = list(TIER.finditer(source.text))
    for stream, (tier, after) in enumerate(zip(tiers, [*tiers[1:], None])):
        said = attributes(tier["attributes"])
        if "parent_ref" in said:
            continue
        for found in ANNOTATION.finditer(source.text, tier.end(), after.start() if after else len(source.text)):
            times = attributes(found["attributes"])
            begin, end = (slots.get(times.get(f"time_slot_ref{i}", ""), math.nan) for i in (1, 2))
            speaker = said.get("participant") or said.get("tier_id", "")
            reader.read(Stretch(*found.span("text"), begin, end, speaker, found.start(), stream), False)
    return reader.transcript("EAF")
