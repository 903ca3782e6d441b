"""Describes a JSON format by the paths of its words, times and speakers, and finds these in a document.

A path, such as `results.channels[].alternatives.0`, is a sequence of member names, separated by dots. `[]` stands for
every element of a list; a number for one element; `a|b` for the member `a`, or `b` if there is no `a`; `*words` for
every member whose name ends in "words"; and `.` alone for the value itself.
"""

import math
import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Any, NamedTuple

from punc.data.datadir import LATEST
from punc.transcripts import clock
from punc.transcripts.transcript import split

PERIOD = re.compile(r"PT(?:(\d{1,4})H)?(?:(\d{1,6})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?")  # a duration in ISO 8601
UNREADABLE = re.compile("[\0\ud800-\udfff]")  # NUL and lone surrogates, which no output may contain
NAMES = ("name", "label", "id")  # if a speaker is an object, one of these members contains the name
Spot = tuple[Any, Any]  # an object or a list, and a key or an index in it
MARKS = frozenset(".,?!:;…")
MARK = re.compile(r"[.,?!:;…](?=\s|$)")
UNKNOWN = (math.nan, math.nan)
Span = tuple[float, float]  # begin and end in seconds; NaN: unknown


@cache
def steps(path: str) -> tuple[str, ...]:
    return tuple(step for step in path.replace("[]", ".[]").split(".") if step)


def keys(value: Any, step: str) -> Iterator[Any]:
    """Yield the keys of an object or list that match one step of a path."""
    if isinstance(value, list):
        if step == "[]":
            yield from range(len(value))
        elif step.isdecimal() and int(step) < len(value):
            yield int(step)
    elif isinstance(value, dict):
        if step.startswith("*"):
            yield from (key for key in value if key.endswith(step[1:]))
        else:
            yield from [name for name in step.split("|") if name in value][:1]


def places(value: Any, path: str) -> list[Spot]:
    """Return the holder (object or list) and the key of every value at a path."""
    *before, last = steps(path)
    holders = [value]
    for step in before:
        holders = [holder[key] for holder in holders for key in keys(holder, step)]
    return [(holder, key) for holder in holders for key in keys(holder, last)]


def values(value: Any, paths: str) -> list[Any]:
    """Return the values at the first of the `paths` that exists. The path `.` or no path means the value itself."""
    for path in paths.split():
        found = [holder[key] for holder, key in places(value, path)] if path != "." else [value]
        if found:
            return found
    return [] if paths else [value]


@cache
def getter(path: str) -> Callable[[Any], Any]:
    """Return a function that returns the first non-null value at a path, or None if there is none."""
    names = path.split("|") if path else []

    def find(value: Any) -> Any:
        if isinstance(value, dict):
            for name in names:
                if (found := value.get(name)) is not None:
                    return found
        return None

    def find_inside(value: Any) -> Any:
        found = (holder[key] for holder, key in places(value, path))
        return next((one for one in found if one is not None), None)

    return find if not path or path.replace("|", "").isidentifier() else find_inside


def seconds(value: Any, unit: float = 1) -> float:
    """Convert a time to seconds; NaN for anything else. A time is a number with `unit` units per second, `1.3s`,
    `00:01:02.5`, `PT1.5S`, an object with seconds and nanos, or an object with a relative time."""
    if type(value) in (int, float):  # not bool
        return value / unit if -LATEST * unit < value < LATEST * unit else math.nan
    if isinstance(value, dict) and ("seconds" in value or "nanos" in value):
        return seconds(value.get("seconds", 0)) + seconds(value.get("nanos", 0)) / 1e9
    if isinstance(value, dict) and "relative" in value:  # the object also has an absolute time, which is ignored
        return seconds(value["relative"], unit)
    if not isinstance(value, str) or len(value) >= 30:
        return math.nan
    text = value.strip()
    if parts := PERIOD.fullmatch(text):
        hours, minutes, rest = parts.groups("0")
        return 3600 * int(hours) + 60 * int(minutes) + float(rest)
    if ":" in text:
        return clock.seconds(text)
    return clock.number(text.removesuffix("s"), 1 if text.endswith("s") else unit)


def speaker_name(value: Any) -> str:
    """Return the name of a speaker, given as a text, a number, or an object with a name; empty if unknown."""
    if isinstance(value, dict):
        value = next((value[name] for name in NAMES if name in value), None)
    return _speaker_name(value) if isinstance(value, (str, int, float)) else ""


@lru_cache(10_000)
def _speaker_name(value: str | int | float) -> str:
    return " ".join(split(UNREADABLE.sub("\ufffd", str(value))))


class JsonFormat(NamedTuple):
    """The paths of a format. Spaces separate paths.

    The paths of words and texts start from a segment, those of segments from a stream, those of streams from a
    recording, and those of recordings from a document.

    begin, end             times of words and segments; `+name` is a duration
    speaker, confidence    members of words and segments
    """

    name: str  # the format's usual name
    writers: str  # the programs and services that write the format
    has: str  # paths that every document of the format has (`!path`: no document has it); `;` separates alternatives
    segments: str = ""  # the first of these paths that exists gives the segments; empty: a stream is one segment
    text: str = ""  # the texts of a segment, which repeat its `words` if there are any
    words: str = ""  # the first of these paths that exists gives the words of a segment
    word: str = "word"  # the path of a word's text; empty: the word itself is a string
    begin: str = "start"
    end: str = "end"
    segment_times: str = ""  # begin and end of a segment, if their names differ from those of words
    unit: float = 1  # units per second of the times; 0: guessed from the duration of words
    speaker: str = "speaker"
    confidence: str = "confidence"
    language: str = "language"
    speakers: str = ""  # the speakers' turns: elements of a document, each with a time and the speaker from then on
    repeats: str = ""  # texts that repeat the words of a document; each path gives one list of texts
    timed: str = ""  # elements of a document that repeat the document's words with times
    recordings: str = ""  # the recordings; empty: the file is one recording; `.`: every document is one
    recording: str = ""  # the member that holds the name of a recording
    part: str = ""  # a document with this member continues the previous recording if both have the same name
    streams: str = ""  # parts of a recording that are read one after another, each with one speaker
    mark: str = ""  # the member that shows that a word is a mark: its value begins with `punct` or is the mark
    skip: str = ""  # a document or segment with this member, or with `member=value`, is not final
    start: str = ""  # a segment's member with the time from which the times of its words count
    lists: str = ""  # paths of a segment's list of begins or of (begin, end) pairs, and of its list of durations
    stays: str = ""  # members whose texts are not words of the transcript
    pieces: bool = False  # segments are words or pieces of words: a segment may continue the previous word
    again: bool = False  # a segment with words and speakers but no text may repeat the stream's earlier words


class Word(NamedTuple):
    """A word of a segment: its index in the list of words, its JSON value, and where its text is."""

    number: int
    value: Any
    spot: Spot


class Shape:
    """Finds words, times and speakers in documents and segments, at the paths that a format gives."""

    def __init__(self, row: JsonFormat):
        self.row = row
        self.odd_times = 0  # how many time values could not be read, such as `x`
        self.word_lists: set[int] = set()  # the `id` of each list that was searched for words
        self.speaker, self.confidence = getter(row.speaker), getter(row.confidence)
        self._kind, self._start = getter(row.mark), getter(row.start)
        self._unit = row.unit or 1
        self._times = _time_getters(row.begin, row.end)
        self._segment_times = _time_getters(*(row.segment_times or f"{row.begin} {row.end}").split())
        *before, last = steps(row.word) or ("",)
        self._names = last.split("|")
        self._holder = getter(".".join(before)) if before else None

    def matches(self, document: Any) -> bool:
        def has(path: str) -> bool:
            return bool(places(document, path.lstrip("!"))) != path.startswith("!")

        return any(all(map(has, paths.split())) for paths in self.row.has.split(";"))

    def is_final(self, value: Any) -> bool:
        """Return whether a document or segment is final, so that no later result replaces it."""
        for test in self.row.skip.split():
            path, _, said = test.partition("=")
            found = getter(path)(value)
            if found is not None and said in ("", str(found).lower()):
                return False
        return True

    def words(self, segment: Any) -> list[Word]:
        """Return the words of a segment. Leaves out blank words."""
        found = []
        for path in self.row.words.split():
            for elements in values(segment, path.removesuffix("[]")):
                self.word_lists.add(id(elements))
                for number, value in enumerate(elements if isinstance(elements, list) else ()):
                    spot = self.spot_of(value) if self.row.word else (elements, number)
                    if spot and has_text(spot):
                        found.append(Word(number, value, spot))
            if found:
                break
        return found

    def spot_of(self, word: Any) -> Spot | None:
        """Return where the text of a word is; None if the word has no text."""
        holder = self._holder(word) if self._holder else word
        if isinstance(holder, dict):  # the usual case, faster than `keys`
            for name in self._names:
                if name in holder:
                    return holder, name
        return next(((holder, key) for key in keys(holder, self._names[0])), None)

    def is_mark(self, word: Any) -> bool:
        kind = self._kind(word)
        return isinstance(kind, str) and (kind.lower().startswith("punct") or MARKS.issuperset(kind))

    def span(self, value: Any, is_segment: bool = False) -> Span:
        get_begin, get_end, is_length = self._segment_times if is_segment else self._times
        begin, end = get_begin(value), get_end(value)
        first, last = seconds(begin, self._unit), seconds(end, self._unit)
        if first != first or last != last:  # a missing time and NaN do not count as odd
            self.odd_times += (first != first and begin is not None and begin == begin)
            self.odd_times += (last != last and end is not None and end == end)
        return first, first + last if is_length else last

    def spans(self, segment: Any, words: list[Word]) -> list[Span]:
        """Return the begin and end of each of the `words`. If there are none, return the times in the segment's
        `lists`, which belong to the words of the segment's text."""
        start = seconds(self._start(segment), self._unit)
        if self.row.lists:
            spans = self._listed_spans(segment)
            # There are too few times, so it is unknown which word each of them belongs to.
            if words and words[-1].number >= len(spans):
                spans = [UNKNOWN] * len(words)
            elif words:
                spans = [spans[word.number] for word in words]
        else:
            spans = [self.span(word.value) for word in words]
        return spans if math.isnan(start) else [(begin + start, end + start) for begin, end in spans]

    def _listed_spans(self, segment: Any) -> list[Span]:
        begins, *others = (getter(path)(segment) for path in self.row.lists.split())
        begins = begins if isinstance(begins, list) else []
        lengths = others[0] if others and isinstance(others[0], list) else []
        found = []
        for number, time in enumerate(begins):
            begin, end = time if isinstance(time, list) and len(time) == 2 else (time, None)
            first, last = seconds(begin, self._unit), seconds(end, self._unit)
            if len(lengths) == len(begins):
                last = first + seconds(lengths[number], self._unit)
            found.append((first, last))
        return found


def _time_getters(begin: str, end: str = "") -> tuple[Callable[[Any], Any], Callable[[Any], Any], bool]:
    return getter(begin), getter(end.lstrip("+")), end.startswith("+")


def has_text(spot: Spot) -> bool:
    text = spot[0][spot[1]]
    return isinstance(text, str) and text.strip() != ""
