"""The lines of a CTM, checked: `id channel begin duration word [confidence [type [speaker]]]`, in seconds.

Kaldi writes no confidence (get_train_ctm.sh) or one (lattice-to-ctm-conf). NIST's CTMs also have `;;` comments, `NA`
for no confidence, and alternatives, of which the first is used; others leave out the channel.
"""

import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from punc.base.errors import InputError
from punc.base.files import decode_line
from punc.data.datadir import LATEST
from punc.data.tables import fields
from punc.timing.timed_words import TimedWord

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")  # characters that have no place in a CTM
SURROGATE = re.compile(r"[\udc80-\udcff]")
# A line as most are, with nothing to check but how late it is.
FIELD, NUMBER, GAP = r"[^\x00-\x20\x7f\ud800-\udfff]+", r"\d{1,12}(?:\.\d{1,12})?", r"[ \t]+"
USUAL = re.compile(rf"[ \t]*(?!;;)({FIELD}){GAP}({FIELD}){GAP}({NUMBER}){GAP}({NUMBER}){GAP}((?!<ALT){FIELD})"
                   rf"(?:{GAP}({NUMBER}))?[ \t]*\n?", re.ASCII)
BEFORE_WORD = {count: re.compile(rf"[ \t]*(?:[^ \t]+[ \t]+){{{count}}}") for count in (3, 4)}


class CtmLine(NamedTuple):
    """A line of a CTM: its file, its number, and its text with the line end; half surrogates for bytes not in UTF-8."""

    path: str | os.PathLike[str]
    number: int
    text: str


def check_line(line: bytes, path: str | os.PathLike[str], number: int) -> str:
    """A line, or part of one, as text. Raises InputError for control characters and bytes that are not UTF-8."""
    text = decode_line(line, path, number)
    if CONTROL.search(text):
        raise InputError("a control character", "remove it: the file is not text, or is broken", path, number)
    return text


class CtmRow(NamedTuple):
    """A word of a CTM, the line that it is on, and where it starts there."""

    word: TimedWord
    line: CtmLine
    start: int


def ctm_rows(lines: Iterable[CtmLine], repairs: Counter[str] | None = None) -> Iterator[CtmRow]:
    """The words of a CTM's lines, silences included; counts later alternatives in `repairs`."""
    repairs = Counter[str]() if repairs is None else repairs
    begun: CtmLine | None = None  # the line where alternatives begin
    later = False  # whether these are later ones
    bare: bool | None = None  # whether the lines have no channels
    path: str | os.PathLike[str] = ""
    for line in lines:
        path, number, text = line
        if not bare and not later and (found := USUAL.fullmatch(text)):
            id, channel, begin, duration, word, confidence = found.groups()
            score = float(confidence) if confidence else None
            if (time := float(begin)) < LATEST and (length := float(duration)) < LATEST:
                bare = False
                yield CtmRow(TimedWord(id, channel, time, length, word, score), line, found.start(5))
                continue
        if CONTROL.search(text) or (not text.isascii() and SURROGATE.search(text)):
            check_line(text.encode(errors="surrogateescape"), path, number)  # raises the error
        columns = fields(text.removesuffix("\n"))
        if not columns or columns[0].startswith(";;"):
            continue
        bare = has_no_channel(columns) if bare is None else bare
        if bare:
            columns.insert(1, "1")
        if not 5 <= len(columns) <= 8:
            raise InputError(f"{len(columns)} columns", "write: id channel begin duration word [confidence]", path,
                             number)
        id, channel, begin, duration, word = columns[:5]
        if word in ("<ALT_BEGIN>", "<ALT>", "<ALT_END>"):
            begun, later = None if word == "<ALT_END>" else begun or line, word == "<ALT>"
            continue
        if later:
            repairs["words of later alternatives, left out"] += 1
            continue
        score = None if len(columns) < 6 or columns[5] == "NA" else _number(columns[5], "confidence", path, number)
        before = BEFORE_WORD[3 if bare else 4].match(text)
        assert before
        yield CtmRow(TimedWord(id, channel, seconds(begin, "begin", path, number),
                               seconds(duration, "duration", path, number), word, score,
                               columns[7] if len(columns) == 8 else ""), line, before.end())
    if begun:
        raise InputError("alternatives without an end", "write a line <ALT_END> after them", path, begun.number)


def has_no_channel(columns: Sequence[str]) -> bool:
    """Whether a line leaves out the channel: its second and third columns are numbers, and the fourth is none."""
    return len(columns) in (4, 5) and is_number(columns[1]) and is_number(columns[2]) and not is_number(columns[3]) \
        and all(map(is_number, columns[4:]))


def is_number(text: str) -> bool:
    """Whether a text is a number with decimals, or without."""
    return text.replace(".", "", 1).isdecimal()


def _number(text: str, what: str, path: str | os.PathLike[str], line: int) -> float:
    try:
        number = math.nan if "_" in text else float(text)  # only Python reads 1_000 as a number
    except ValueError:
        number = math.nan
    if not -math.inf < number < math.inf:
        raise InputError(f"the {what} '{text[:20]}' is not a number", "write one, as 1.25", path, line)
    return number


def seconds(text: str, what: str, path: str | os.PathLike[str], line: int) -> float:
    """A time as written in a file. Raises InputError if it is not a number, negative, or later than LATEST."""
    time = _number(text, what, path, line)
    if time >= LATEST:
        raise InputError(f"the {what} {text[:20]} is no time of a recording", "write seconds", path, line)
    if time < 0:
        raise InputError(f"the {what} {text[:20]} is negative", "count from the start of the recording", path, line)
    return time
