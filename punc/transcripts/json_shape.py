"""A format of JSON: a row that says where words, times and speakers are, and what it finds in a segment."""

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from punc.transcripts.json_paths import Spot, getter, keys, places, seconds, steps, values

MARKS = frozenset(".,?!:;…")
MARK = re.compile(r"[.,?!:;…](?=\s|$)")
UNKNOWN = (math.nan, math.nan)
Span = tuple[float, float]  # begin and end in seconds; NaN where they are not known


class JsonFormat(NamedTuple):
    """Where a format has what. Paths are those of json_paths; `paths` are several, with blanks between.

    Paths of words and texts begin at a segment, paths of segments at a stream, others at a document.

    begin, end     times of words and segments; `+name` is a length
    speaker, confidence, language   of words and segments, and of a document
    """

    name: str  # as people call it
    writers: str  # what writes it
    has: str  # paths that a document of the format has; `!path`: has not; `;` stands between alternatives
    segments: str = ""  # the segments, by the first of these paths that is there; empty: a stream is one
    text: str = ""  # texts of a segment: its words, if it has no `words`, or what repeats them
    words: str = ""  # the words of a segment, by the first of these paths that is there
    word: str = "word"  # the text of a word; empty: the word is a string
    begin: str = "start"
    end: str = "end"
    segment_times: str = ""  # begin and end of a segment, if they have other names
    unit: float = 1  # how many units of a time are a second; 0: it is guessed from how long words take
    speaker: str = "speaker"
    confidence: str = "confidence"
    language: str = "language"
    speakers: str = ""  # elements of a document with the time from which on (`begin`, or `from`) someone speaks
    repeats: str = ""  # texts that repeat the words of a document, one list of texts for each path
    timed: str = ""  # elements of a document that repeat its words, and have their times
    recordings: str = ""  # the recordings; empty: the file is one; `.`: every document is one
    recording: str = ""  # the member of a recording with its name
    part: str = ""  # a document with this member goes on the recording before, if that has its name
    streams: str = ""  # texts of a recording that are read one after another, a speaker each
    mark: str = ""  # the member of a word that says that it is a mark: its kind, or the mark itself
    skip: str = ""  # what is not final: `member=value`, or a member, of a document or a segment
    start: str = ""  # the time of a segment from which those of its words count
    lists: str = ""  # lists of a segment with begins (or begins and ends) and, after a blank, lengths of its words
    stays: str = ""  # members whose texts are not words of the transcript
    pieces: bool = False  # segments are words or pieces of them: one may go on the word before
    again: bool = False  # a segment without a text whose words have speakers repeats all words before it


class Word(NamedTuple):
    """A word of a segment: its number there, the value that it is, and where its text stands."""

    number: int
    value: Any
    spot: Spot


class Shape:
    """A row of the table, ready to be used.

    odd_times    how many times were none, as the text `x`
    word_lists   the lists that words were found in, by their `id`
    """

    def __init__(self, row: JsonFormat):
        self.row = row
        self.odd_times = 0
        self.word_lists: set[int] = set()
        self.speaker, self.confidence = getter(row.speaker), getter(row.confidence)
        self._kind, self._start = getter(row.mark), getter(row.start)
        self._unit = row.unit or 1
        self._times = _time_getters(row.begin, row.end)
        self._segment_times = _time_getters(*(row.segment_times or f"{row.begin} {row.end}").split())
        *before, last = steps(row.word) or ("",)
        self._names = last.split("|")
        self._holder = getter(".".join(before)) if before else None

    def matches(self, document: Any) -> bool:
        """Whether a document is of the format."""
        def has(path: str) -> bool:
            return bool(places(document, path.lstrip("!"))) != path.startswith("!")

        return any(all(map(has, paths.split())) for paths in self.row.has.split(";"))

    def is_final(self, value: Any) -> bool:
        """Whether a document or a segment is not one that a later one replaces."""
        for test in self.row.skip.split():
            path, _, said = test.partition("=")
            found = getter(path)(value)
            if found is not None and said in ("", str(found).lower()):
                return False
        return True

    def words(self, segment: Any) -> list[Word]:
        """The words of a segment that are not blank."""
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
        """Where the text of a word stands."""
        holder = self._holder(word) if self._holder else word
        if isinstance(holder, dict):  # most of the time: `keys` takes longer
            for name in self._names:
                if name in holder:
                    return holder, name
        return next(((holder, key) for key in keys(holder, self._names[0])), None)

    def is_mark(self, word: Any) -> bool:
        kind = self._kind(word)
        return isinstance(kind, str) and (kind.lower().startswith("punct") or MARKS.issuperset(kind))

    def span(self, value: Any, is_segment: bool = False) -> Span:
        """Begin and end of a word or a segment."""
        get_begin, get_end, is_length = self._segment_times if is_segment else self._times
        begin, end = get_begin(value), get_end(value)
        first, last = seconds(begin, self._unit), seconds(end, self._unit)
        if first != first or last != last:  # no time and NaN are not odd
            self.odd_times += (first != first and begin is not None and begin == begin)
            self.odd_times += (last != last and end is not None and end == end)
        return first, first + last if is_length else last

    def spans(self, segment: Any, words: list[Word]) -> list[Span]:
        """The times of the words, from lists if the segment has such; without words, of the words of its text."""
        start = seconds(self._start(segment), self._unit)
        if self.row.lists:
            spans = self._listed_spans(segment)
            if words and words[-1].number >= len(spans):  # which is whose is not known
                spans = [UNKNOWN] * len(words)
            elif words:
                spans = [spans[word.number] for word in words]
        else:
            spans = [self.span(word.value) for word in words]
        return spans if math.isnan(start) else [(begin + start, end + start) for begin, end in spans]

    def _listed_spans(self, segment: Any) -> list[Span]:
        """Begins with lengths, begins alone, or pairs of begin and end."""
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
    """Functions that find begin and end of a value by their paths, and whether the end is a length."""
    return getter(begin), getter(end.lstrip("+")), end.startswith("+")


def has_text(spot: Spot) -> bool:
    text = spot[0][spot[1]]
    return isinstance(text, str) and text.strip() != ""
