"""Reads the JSON of recognisers by a table: a format is a row that says where words, times and speakers are.

A path is names of members with dots between; `[]` is every element of a list, a number one element, `a|b` the first of
two members that is there, and `*` any beginning of a name: `results.channels[].alternatives.0`, `tiers.*words`.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from punc.data.datadir import LATEST
from punc.transcripts.json_file import JsonDocument
from punc.transcripts.source import Source
from punc.transcripts.transcript import BLANKS, WORD, Repeat, Text, Transcript, split

CLOCK = re.compile(r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2}(?:[.,]\d{1,9})?)")
BEGINS_WITH_BLANK = re.compile(rf"[\s{BLANKS}]")
BRACKETS = tuple("[({<")
NAMED = 3  # members whose texts stay are named in a message


class JsonFormat(NamedTuple):
    """Where a format has what. Paths of segments and repeats begin at the document, others at a segment or word.

    name        as people call it
    has         paths, with blanks between, that a file of the format has; `!path`: has not
    segments    the segments; empty: the document is one
    text        the texts of a segment, the best one first; they have its words, or repeat those of its `words`
    words       the words of a segment
    word        the text of a word; empty: the word is a string
    begin, end  times of words and segments; `+name` is a length
    unit        how many units of a time are a second
    speaker, confidence, language   language at the document
    repeats     texts that repeat the words of a document, one list of texts for each path
    recordings  the recordings; empty: the file is one; `.`: every document is one
    recording   the member of a recording with its name
    part        a document that has this member goes on the recording before, if it has its name
    mark        `member=value` of a word that is a mark of its own
    skip        `member=value` of a document that is not final
    start       the time of a segment from which those of its words count
    lists       lists beside the text of a segment with the begin (or begin and end) of each word
    pieces      texts of segments may go on the word before
    """

    name: str
    has: str
    segments: str = ""
    text: str = ""
    words: str = ""
    word: str = "word"
    begin: str = "start"
    end: str = "end"
    unit: float = 1
    speaker: str = "speaker"
    confidence: str = "confidence"
    language: str = "language"
    repeats: str = ""
    recordings: str = ""
    recording: str = ""
    part: str = ""
    mark: str = ""
    skip: str = ""
    start: str = ""
    lists: str = ""
    pieces: bool = False


@cache
def _steps(path: str) -> tuple[str, ...]:
    return tuple(step for step in path.replace("[]", ".[]").split(".") if step)


def _members(value: Any, step: str) -> Iterator[Any]:
    """The keys of an object or a list that a step of a path names."""
    if step == "[]":
        if isinstance(value, list):
            yield from range(len(value))
    elif isinstance(value, list):
        if step.isdigit() and int(step) < len(value):
            yield int(step)
    elif isinstance(value, dict):
        for name in step.split("|"):
            found = [name] if name in value else []
            if name.startswith("*"):
                found = [key for key in value if key.endswith(name[1:])]
            yield from found
            if found:
                return


def places(value: Any, path: str) -> Iterator[tuple[Any, Any]]:
    """The holders and keys of all values of a path."""
    *before, last = _steps(path)
    holders = [value]
    for step in before:
        holders = [holder[key] for holder in holders for key in _members(holder, step)]
    return ((holder, key) for holder in holders for key in _members(holder, last))


def values(value: Any, path: str) -> list[Any]:
    """All values of a path; the value itself for an empty one."""
    return [holder[key] for holder, key in places(value, path)] if _steps(path) else [value]


@cache
def getter(path: str) -> Callable[[Any], Any]:
    """A function that finds the first value of a path, None if there is none."""
    if not path:
        return lambda value: None
    if path.isidentifier():
        return lambda value: value.get(path) if isinstance(value, dict) else None
    return lambda value: next((holder[key] for holder, key in places(value, path)), None)


def matches(row: JsonFormat, document: Any) -> bool:
    """Whether a document is of a format."""
    if not isinstance(document, dict):
        return False
    return all(any(True for _ in places(document, path.lstrip("!"))) != path.startswith("!")
               for path in row.has.split())


def seconds(value: Any, unit: float = 1) -> float:
    """A time of JSON in seconds; NaN if it is none: a number, `1.3s`, `00:01:02.5`, or seconds and nanos."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value / unit if abs(value) < LATEST * unit else math.nan
    if isinstance(value, str) and len(value) < 30:
        if clock := CLOCK.fullmatch(value):
            hours, minutes, rest = clock.groups("0")
            return 3600 * int(hours) + 60 * int(minutes) + float(rest.replace(",", "."))
        try:
            time = float(value.removesuffix("s").replace("_", "x")) / unit
        except ValueError:
            return math.nan
        return time if abs(time) < LATEST else math.nan
    if isinstance(value, dict) and ("seconds" in value or "nanos" in value):
        return seconds(value.get("seconds", 0)) + seconds(value.get("nanos", 0)) / 1e9
    return math.nan


class JsonReader:
    """Reads the documents of a file by a row of the table."""

    def __init__(self, source: Source, row: JsonFormat, document: JsonDocument):
        self._source, self._row, self._document = source, row, document
        self.texts: list[Text] = []
        self.repeats: list[Repeat] = []
        self.language = ""
        self._used: set[tuple[int, Any]] = set()  # texts that are read or repeat others
        self._segment = 0
        self._recordings: list[str] = []
        self._of_word = {name: getter(path) for name, path in (
            ("begin", row.begin), ("end", row.end.lstrip("+")), ("speaker", row.speaker),
            ("confidence", row.confidence))}
        *before, self._key = _steps(row.word) or ("",)
        self._holder = ".".join(before)

    def read(self, documents: list[Any]) -> None:
        """Read documents that are of the format."""
        skip, _, value = self._row.skip.partition("=")
        for document in documents:
            if skip and str(getter(skip)(document)).lower() == value:
                continue
            self._read_document(document)

    def _read_document(self, document: Any) -> None:
        row, first = self._row, len(self.texts)
        self.language = self.language or str(getter(row.language)(document) or "")
        recordings = [document] if row.recordings in ("", ".") else values(document, row.recordings)
        for recording in recordings:
            if row.recordings or not self._recordings:
                self._begin_recording(recording)
            begun = len(self.texts)
            for segment in values(recording, row.segments):
                self._read_segment(segment)
            self._join(begun, by_segment=row.pieces)
        for path in row.repeats.split():
            texts = [(holder, key) for holder, key in places(document, path) if self._is_text(holder, key)]
            if not texts:
                continue
            if len(self.texts) == first:  # nothing else has the words
                for holder, key in texts:
                    self._add(holder, key, Text(0, holder[key]))
            else:
                self._repeat(texts, first)

    def _begin_recording(self, recording: Any) -> None:
        name = "_".join(str(getter(self._row.recording)(recording) or "").split())
        goes_on = self._row.part and getter(self._row.part)(recording) is not None
        if not (goes_on and self._recordings and self._recordings[-1] == name):
            self._recordings.append(name)

    def _read_segment(self, segment: Any) -> None:
        row, first = self._row, len(self.texts)
        self._segment += 1
        start = seconds(getter(row.start)(segment), row.unit) if row.start else 0.0
        start = 0.0 if math.isnan(start) else start
        begin, end = self._times(segment)
        speaker = self._of_word["speaker"](segment)
        texts = [] if not row.text else [(holder, key) for path in row.text.split() for holder, key in
                                         places(segment, path) if self._is_text(holder, key)]
        if row.words:
            self._read_words(segment, start, speaker)
        if len(self.texts) > first:
            self._fill(first, begin, end)
        elif texts:
            holder, key = texts.pop(0)
            times = self._listed_times(segment, start)
            confidence = self._of_word["confidence"](segment)
            self._add(holder, key, Text(0, holder[key], begin, end, self._name(speaker), seconds(confidence)), times)
        for holder, key in texts:
            self._repeat([(holder, key)], first)

    def _read_words(self, segment: Any, start: float, speaker: Any) -> None:
        row = self._row
        mark, _, value = row.mark.partition("=")
        of_speaker, of_confidence, of_mark = self._of_word["speaker"], self._of_word["confidence"], getter(mark)
        times = self._listed_times(segment, start)
        found = list(places(segment, row.words))
        for number, (holder, key) in enumerate(found):
            word = holder[key]
            if row.word:
                holder, key = (getter(self._holder)(word) if self._holder else word), self._word_key(word)
            if not self._is_text(holder, key):
                continue
            begin, end = self._times(word) if not isinstance(word, str) else (math.nan, math.nan)
            if times and len(times) == len(found):
                begin, end = times[number]
            own = of_speaker(word)
            confidence = of_confidence(word)
            is_mark = bool(mark) and of_mark(word) == value and bool(holder[key].strip())
            self._add(holder, key, Text(
                0, holder[key], begin + start, end + start, self._name(speaker if own is None else own),
                seconds(confidence), joined=is_mark))

    def _word_key(self, word: Any) -> Any:
        """The key of the text of a word, of which the row may name several."""
        holder = getter(self._holder)(word) if self._holder else word
        return next(_members(holder, self._key), None)

    def _is_text(self, holder: Any, key: Any) -> bool:
        return key is not None and isinstance(holder, (dict, list)) and isinstance(holder[key], str)

    def _times(self, value: Any) -> tuple[float, float]:
        row = self._row
        begin, end = (seconds(self._of_word[name](value), row.unit) for name in ("begin", "end"))
        return begin, begin + end if row.end.startswith("+") else end

    def _listed_times(self, segment: Any, start: float) -> list[tuple[float, float]]:
        """The times of the words of a segment that has them in lists; none if it has no such list."""
        if not self._row.lists:
            return []
        times, *lengths = (getter(path)(segment) for path in self._row.lists.split())
        if not isinstance(times, list):
            return []
        found = []
        for number, time in enumerate(times):
            begin, end = time if isinstance(time, list) and len(time) == 2 else (time, None)
            begin, end = seconds(begin, self._row.unit), seconds(end, self._row.unit)
            if lengths and isinstance(lengths[0], list) and len(lengths[0]) == len(times):
                end = begin + seconds(lengths[0][number], self._row.unit)
            found.append((begin, end))
        return found

    def _name(self, speaker: Any) -> str:
        return "" if speaker is None or isinstance(speaker, (dict, list)) else " ".join(split(str(speaker)))

    def _add(self, holder: Any, key: Any, text: Text, times: list[tuple[float, float]] | None = None) -> None:
        self._used.add((id(holder), key))
        stream = max(len(self._recordings) - 1, 0)
        name = self._recordings[stream] if self._recordings else ""
        if not name and len(self._recordings) > 1:
            name = str(stream + 1)
        self.texts.append(text._replace(
            place=self._document.place(holder, key), text=self._source.checked(holder[key]), segment=self._segment,
            stream=stream, recording=name, times=tuple(times or ())))

    def _repeat(self, texts: list[tuple[Any, Any]], first: int) -> None:
        self._used.update((id(holder), key) for holder, key in texts)
        self.repeats.append(Repeat([(self._document.place(holder, key), self._source.checked(holder[key]))
                                    for holder, key in texts], first, len(self.texts)))

    def _fill(self, first: int, begin: float, end: float) -> None:
        """Give the times of a segment to its first and last word, if they have none."""
        if math.isnan(self.texts[first].begin):
            self.texts[first] = self.texts[first]._replace(begin=begin)
        if math.isnan(self.texts[-1].end):
            self.texts[-1] = self.texts[-1]._replace(end=end)

    def _join(self, first: int, by_segment: bool) -> None:
        """Of texts some of which begin with a blank, those that do not go on the word before, as Whisper's do."""
        own = self.texts[first:]
        if not any(BEGINS_WITH_BLANK.match(text.text) for text in own):
            return
        for number, text in enumerate(own):
            begins = number == 0 or (text.segment != own[number - 1].segment and not by_segment)
            if not begins and not BEGINS_WITH_BLANK.match(text.text) and not text.text.startswith(BRACKETS):
                self.texts[first + number] = text._replace(joined=True)

    def unread(self) -> Counter[str]:
        """How many strings of several words stay as they are, by the names of their members."""
        counts = Counter[str]()
        waiting: list[tuple[str, Any]] = [("", value) for value in self._document.values]
        while waiting:
            name, holder = waiting.pop()
            for key, value in holder.items() if isinstance(holder, dict) else enumerate(holder):
                own = key if isinstance(key, str) else name
                if isinstance(value, (dict, list)):
                    waiting.append((own, value))
                elif isinstance(value, str) and " " in value and (id(holder), key) not in self._used:
                    counts[own] += len([word for word in WORD.findall(value) if word.isalpha()]) > 1
        return +counts


def read_documents(source: Source, row: JsonFormat, document: JsonDocument, documents: list[Any]) -> Transcript:
    """The transcript of documents of a format, with messages on what was not read."""
    reader = JsonReader(source, row, document)
    reader.read(documents)
    messages = []
    if unread := reader.unread():
        named = ", ".join(f"{name} ({count})" for name, count in unread.most_common(NAMED))
        messages.append(f"{sum(unread.values())} texts of several words stay as they are: {named}")
    if reader.texts and not any(np.isfinite(text.begin) or text.times for text in reader.texts):
        messages.append("no times were read")
    return Transcript(row.name, reader.texts, document, reader.repeats, reader.language, messages, source.encoding)
