"""Words in the JSON of recognisers: lists of words in segments, and texts and lists that repeat them."""

import re
from array import array
from collections.abc import Sequence
from itertools import chain, repeat
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from punc.asr.document import Source
from punc.asr.json_walk import JsonWalk
from punc.data.datadir import LATEST

STRING = rb'"([^"\\]*(?:\\.[^"\\]*)*)"'
WORD, TEXT = re.compile(rb'"word"\s*:\s*' + STRING), re.compile(rb'"text"\s*:\s*' + STRING)
BATCH = 1 << 14  # words whose values are kept as objects
ONE_STRING = re.compile(STRING)


class Keys(NamedTuple):
    """What a format calls its members.

    words       the list of words of a segment
    copies      lists beside the segments that repeat their words
    confidence  the confidence of a word
    """

    words: str
    copies: tuple[str, ...]
    confidence: str


class WordList:
    """Words one after another.

    bounds    the bytes of their strings, without quotes: begin and end of each in turn
    counts    for each call of `add`, the segment and how many words it has
    speakers  as JSON has them, None where they are missing; empty if the file names none
    wrong     the first word with a value that is no number, and the value
    """

    def __init__(self, confidence: str, speakers: bool) -> None:
        self._keys = ("start", "end", confidence)
        self._values, self._has_speakers = itemgetter(*self._keys), speakers
        self.bounds = array("q")
        self.counts: list[tuple[int, int]] = []
        self.speakers: list[Any] = []
        self.wrong: tuple[int, str] | None = None
        self._rows: list[tuple[Any, ...]] = []
        self._columns: list[np.ndarray] = []

    def __len__(self) -> int:
        return len(self.bounds) // 2

    def add(self, words: Sequence[dict[str, Any]], spans: Sequence[tuple[int, int]], segment: int,
            speaker: Any = None) -> None:
        """Add words and the spans of their strings; `speaker` is that of the segment."""
        before = len(self._rows)
        try:
            self._rows += map(self._values, words)
        except KeyError:  # some were added
            self._rows[before:] = [tuple(map(word.get, self._keys)) for word in words]
        self.bounds.extend(chain.from_iterable(spans))
        self.counts.append((segment, len(words)))
        if self._has_speakers:
            self.speakers += [word.get("speaker", speaker) for word in words]
        if len(self._rows) > BATCH:
            self._pack()

    def spans(self) -> tuple[np.ndarray, np.ndarray]:
        """The begins and the ends of the strings, int64 (N,)."""
        bounds = np.array(self.bounds, np.int64)
        return bounds[::2], bounds[1::2]

    def segments(self) -> np.ndarray:
        """The segment of each word, int64 (N,)."""
        numbers, counts = np.array(self.counts, np.int64).reshape(-1, 2).T
        return np.repeat(numbers, counts)

    def numbers(self) -> np.ndarray:
        """Begins, ends and confidences, float64 (3, N), NaN where they are missing."""
        self._pack()
        return np.concatenate(self._columns).T if self._columns else np.zeros((3, 0))

    def _pack(self) -> None:
        """Make an array of the rows: it takes less memory."""
        try:
            numbers = np.array(self._rows, float).reshape(-1, 3)
        except (TypeError, ValueError):
            bad = [[number is not None and type(number) not in (int, float) for number in row] for row in self._rows]
            at = next(i for i, row in enumerate(bad) if any(row))
            done = sum(map(len, self._columns))
            self.wrong = self.wrong or (done + at, repr(self._rows[at][bad[at].index(True)]))
            numbers = np.full((len(self._rows), 3), np.nan)
        numbers[~(np.abs(numbers) < LATEST)] = np.nan
        self._columns.append(numbers)
        self._rows.clear()


class JsonSegment(NamedTuple):
    """A segment: its begin, end and speaker as JSON has them, and the bytes of its text; None where there is none."""

    begin: Any
    end: Any
    speaker: Any
    text: tuple[int, int] | None


class JsonWords:
    """The words of a file.

    words      those of its segments
    copied     those of lists beside the segments
    segments   the segments
    texts      the bytes of texts beside the segments

    Raises InputError for what is no JSON, or not what the format has.
    """

    def __init__(self, source: Source, keys: Keys):
        self.source, self._keys, self._walk = source, keys, JsonWalk(source)
        speakers = b'"speaker"' in source.data
        self.words, self.copied = WordList(keys.confidence, speakers), WordList(keys.confidence, speakers)
        self.segments: list[JsonSegment] = []
        self.texts: list[tuple[int, int]] = []
        self._segmented = b'"segments"' in source.data
        self._walk.documents(self._document)

    def _document(self, at: int) -> int:
        first = self._walk.text[at]
        if first == "[":
            return self._walk.elements(at, self._segment)
        if first != "{":
            raise self.source.error("neither a list nor an object", "let the recogniser write it again", at)
        if not self._segmented:
            return self._segment(at)
        lists = dict.fromkeys(self._keys.copies, lambda at: self._walk.elements(at, self._copied_word))
        return self._walk.members(at, {**lists, "text": self._text,
                                       "segments": lambda at: self._walk.elements(at, self._segment)})

    def _segment(self, at: int) -> int:
        """Read a segment, or an utterance that is an object of its own."""
        segment, end = self._walk.value(at)
        if not isinstance(segment, dict):
            raise self.source.error("not a segment", "let the recogniser write it again", at)
        if isinstance(segment.get("alternatives"), list) and self._keys.words not in segment:
            return self._alternatives(at)
        words, number, speaker = segment.get(self._keys.words) or [], len(self.segments), segment.get("speaker")
        data = self.source.data
        spans = [found.span(1) for found in WORD.finditer(data, at, end)]
        if self._are_words(words, spans):
            self.words.add(words, spans, number, speaker)
        else:
            self._walk.members(at, {self._keys.words: lambda at: self._walk.elements(
                at, lambda at: self._word(at, self.words, speaker))})
        text = [found.span(1) for found in TEXT.finditer(data, at, end)]
        if len(text) != 1 and isinstance(segment.get("text"), str):
            text.clear()
            self._walk.members(at, {"text": lambda at: self._string(at, text)})
        self.segments.append(JsonSegment(segment.get("start"), segment.get("end"), speaker,
                                        text[-1] if text and isinstance(segment.get("text"), str) else None))
        return end

    def _are_words(self, words: Any, spans: list[tuple[int, int]]) -> bool:
        """Whether the strings in the spans are those of a list of words: no other member is called `word`."""
        if not isinstance(words, list) or len(words) != len(spans) or not all(map(isinstance, words, repeat(dict))):
            return False
        text = self._walk.text
        shown = [text[start:stop] for start, stop in spans]
        # A string with escapes differs from its value; then only the number of strings is compared.
        return [word.get("word") for word in words] == shown or any("\\" in one for one in shown)

    def _alternatives(self, at: int) -> int:
        """Read the first of an utterance's alternatives; the others stay as they are."""
        count = len(self.segments)
        return self._walk.members(at, {"alternatives": lambda at: self._walk.elements(
            at, lambda at: self._segment(at) if len(self.segments) == count else self._walk.skip(at))})

    def _copied_word(self, at: int) -> int:
        return self._word(at, self.copied)

    def _word(self, at: int, words: WordList, speaker: Any = None) -> int:
        """Read one word."""
        word, end = self._walk.value(at)
        if not isinstance(word, dict) or not isinstance(word.get("word"), str):
            raise self.source.error('not a word: no member "word"', "let the recogniser write it again", at)
        spans: list[tuple[int, int]] = []
        self._walk.members(at, {"word": lambda at: self._string(at, spans)})
        words.add([word], spans[-1:], len(self.segments), speaker)
        return end

    def _text(self, at: int) -> int:
        return self._string(at, self.texts)

    def _string(self, at: int, spans: list[tuple[int, int]]) -> int:
        """Keep the span of a string; other values are skipped."""
        found = ONE_STRING.match(self.source.data, at)
        if found:
            spans.append(found.span(1))
        return self._walk.skip(at)  # which checks its escapes
