"""Words in the JSON of recognisers: lists of words in segments, and texts and lists that repeat them."""

import re
from collections.abc import Sequence
from itertools import repeat
from operator import eq, methodcaller
from typing import Any, NamedTuple

from punc.asr.document import Source
from punc.asr.json_walk import JsonWalk

STRING = rb'"([^"\\]*(?:\\.[^"\\]*)*)"'
WORD, TEXT = re.compile(rb'"word"\s*:\s*' + STRING), re.compile(rb'"text"\s*:\s*' + STRING)
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
    """Words one after another: lists with a value for each.

    starts, stops                        the bytes of their strings, without quotes
    begins, ends, confidences, speakers  as JSON has them, None where they are missing
    segments                             the segment of each
    """

    def __init__(self, confidence: str) -> None:
        self._confidence = confidence
        self.starts: list[int] = []
        self.stops: list[int] = []
        self.begins: list[Any] = []
        self.ends: list[Any] = []
        self.confidences: list[Any] = []
        self.speakers: list[Any] = []
        self.segments: list[int] = []

    def add(self, words: Sequence[dict[str, Any]], spans: Sequence[tuple[int, int]], segment: int,
            speaker: Any = None) -> None:
        """Add words and the spans of their strings; `speaker` is that of the segment."""
        self.starts += [start for start, _ in spans]
        self.stops += [stop for _, stop in spans]
        self.begins += map(methodcaller("get", "start"), words)
        self.ends += map(methodcaller("get", "end"), words)
        self.confidences += map(methodcaller("get", self._confidence), words)
        self.speakers += map(methodcaller("get", "speaker", speaker), words)
        self.segments += repeat(segment, len(words))


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
        self.words, self.copied = WordList(keys.confidence), WordList(keys.confidence)
        self.segments: list[JsonSegment] = []
        self.texts: list[tuple[int, int]] = []
        self._segmented = re.search(rb'"segments"\s*:\s*\[', source.data) is not None
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
        found = TEXT.findall(data, at, end)
        text: list[tuple[int, int]] = []
        if len(found) == 1 and isinstance(segment.get("text"), str):
            text = [match.span(1) for match in TEXT.finditer(data, at, end)]
        elif isinstance(segment.get("text"), str):
            self._walk.members(at, {"text": lambda at: self._string(at, text)})
        self.segments.append(JsonSegment(segment.get("start"), segment.get("end"), speaker, text[-1] if text else None))
        return end

    def _are_words(self, words: Any, spans: list[tuple[int, int]]) -> bool:
        """Whether the strings in the spans are those of a list of words: no other member is called `word`."""
        if not isinstance(words, list) or len(words) != len(spans) or not all(map(isinstance, words, repeat(dict))):
            return False
        text = self._walk.text
        shown = [text[start:stop] for start, stop in spans]
        # A string with escapes differs from its value; then only the number of strings is compared.
        return all(map(eq, shown, map(methodcaller("get", "word"), words))) or any("\\" in one for one in shown)

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
        return found.end() if found else self._walk.skip(at)
