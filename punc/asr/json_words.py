"""Words in the JSON of recognisers: lists of words in segments, and texts and lists that repeat them."""

import re
from collections.abc import Sequence
from itertools import chain, repeat
from typing import Any, NamedTuple

from punc.asr.document import Source
from punc.asr.json_walk import STRING, Element, JsonWalk
from punc.asr.word_list import WordList

BLOCK = 1 << 20  # bytes of segments, or words, that are read together


def string_member(name: str) -> re.Pattern[bytes]:
    """What finds members of this name that are strings; group 1 has what stands between the quotes."""
    return re.compile(rb'"%b"\s*:\s*%b' % (name.encode(), STRING))


WORD, TEXT = string_member("word"), string_member("text")


class Keys(NamedTuple):
    """What a format calls its members.

    words       the list of words of a segment
    copies      lists beside the segments that repeat their words
    confidence  the confidence of a word
    """

    words: str
    copies: tuple[str, ...]
    confidence: str


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

    Successive segments are read together: first their values, then where their strings stand.

    Raises InputError for what is no JSON, or not what the format has.
    """

    def __init__(self, source: Source, keys: Keys):
        self.source, self._keys, self._walk = source, keys, JsonWalk(source)
        speakers = has_member(source.data, "speaker")
        self.words, self.copied = WordList(keys.confidence, speakers), WordList(keys.confidence, speakers)
        self.segments: list[JsonSegment] = []
        self.texts: list[tuple[int, int]] = []
        self._waiting: list[Element] = []  # segments, one after another
        self._segmented = has_member(source.data, "segments")
        self._walk.documents(self._document)
        self._read_segments()
        del self._walk  # its text takes as much memory as the file

    def _document(self, at: int) -> int:
        first = self._walk.text[at]
        if first == "[":
            return self._walk.elements(at, self._segment)
        if first != "{":
            raise self.source.error("neither a list nor an object", "let the recogniser write it again", at)
        if not self._segmented:
            return self._segment(at)
        self._read_segments()
        lists = dict.fromkeys(self._keys.copies, self._copied_words)
        return self._walk.members(at, {**lists, "text": self._text, "segments": self._segments})

    def _segments(self, at: int) -> int:
        end = self._walk.elements(at, self._segment)
        self._read_segments()  # what comes before the next ones is no segment
        return end

    def _segment(self, at: int) -> int:
        """Read the value of a segment, or of an utterance that is an object of its own."""
        segment, end = self._walk.value(at)
        if not isinstance(segment, dict):
            raise self.source.error("not a segment", "let the recogniser write it again", at)
        if isinstance(segment.get("alternatives"), list) and self._keys.words not in segment:
            return self._alternatives(at)
        self._waiting.append(Element(segment, at, end))
        if end - self._waiting[0].start > BLOCK:
            self._read_segments()
        return end

    def _read_segments(self) -> None:
        """Read the segments that wait: all at once, or one by one if other members have names that are looked for."""
        waiting, self._waiting = self._waiting, []
        if waiting and not self._segments_together(waiting):
            for segment in waiting:
                self._one_segment(segment)

    def _segments_together(self, segments: Sequence[Element]) -> bool:
        """Read segments all of whose strings called `word` and `text` are theirs; false if they have others."""
        lists = [segment.value.get(self._keys.words) or [] for segment in segments]
        if not all(map(isinstance, lists, repeat(list))):
            return False
        words, data, bounds = list(chain.from_iterable(lists)), self.source.data, (segments[0].start, segments[-1].stop)
        spans = [found.span(1) for found in WORD.finditer(data, *bounds)]
        texts: list[tuple[int, int] | None] = [found.span(1) for found in TEXT.finditer(data, *bounds)]
        for at, segment in enumerate(segments):
            if not isinstance(segment.value.get("text"), str):
                texts.insert(at, None)
        if len(texts) != len(segments) or not self._are_words(words, spans) or not all(
                text is None or segment.start < text[0] < segment.stop for segment, text in zip(segments, texts)):
            return False
        number, speakers = len(self.segments), [segment.value.get("speaker") for segment in segments]
        self.words.add(words, spans, list(enumerate(map(len, lists), number)), speakers)
        self.segments += [JsonSegment(segment.value.get("start"), segment.value.get("end"), speaker, text)
                          for segment, speaker, text in zip(segments, speakers, texts)]
        return True

    def _one_segment(self, segment: Element) -> None:
        """Read a segment, if need be member by member."""
        if self._segments_together([segment]):
            return
        value, text = segment.value, list[tuple[int, int]]()
        speaker = value.get("speaker")
        self._walk.members(segment.start, {
            self._keys.words: lambda at: self._walk.elements(at, lambda at: self._word(at, self.words, speaker)),
            "text": lambda at: self._walk.string(at, text)})
        self.segments.append(JsonSegment(value.get("start"), value.get("end"), speaker,
                                         text[-1] if text and isinstance(value.get("text"), str) else None))

    def _are_words(self, words: Any, spans: list[tuple[int, int]]) -> bool:
        """Whether the strings in the spans are those of a list of words: no other member is called `word`."""
        if len(words) != len(spans) or not all(map(isinstance, words, repeat(dict))):
            return False
        text, values = self._walk.text, [word.get("word") for word in words]
        shown = [text[start:stop] for start, stop in spans]
        # A string with escapes differs from its value.
        return values == shown or all(word == one or "\\" in one for word, one in zip(values, shown))

    def _alternatives(self, at: int) -> int:
        """Read the first of an utterance's alternatives; the others stay as they are."""
        self._read_segments()

        def read(at: int) -> int:
            end = self._segment(at)
            self._read_segments()
            return end

        count = len(self.segments)
        return self._walk.members(at, {"alternatives": lambda at: self._walk.elements(
            at, lambda at: read(at) if len(self.segments) == count else self._walk.skip(at))})

    def _copied_words(self, at: int) -> int:
        """Read a list of words beside the segments."""
        return self._walk.blocks(at, BLOCK, self._read_copied)

    def _read_copied(self, words: Sequence[Element]) -> None:
        if not self._copied_together(words):
            for word in words:
                self._word(word.start, self.copied)

    def _copied_together(self, words: Sequence[Element]) -> bool:
        """Read words all of whose strings called `word` are theirs; false if they have others."""
        values = [word.value for word in words]
        spans = [found.span(1) for found in WORD.finditer(self.source.data, words[0].start, words[-1].stop)]
        if not self._are_words(values, spans):
            return False
        self.copied.add(values, spans, [(len(self.segments), len(words))], [None])
        return True

    def _word(self, at: int, words: WordList, speaker: Any = None) -> int:
        """Read one word."""
        word, end = self._walk.value(at)
        if not isinstance(word, dict) or not isinstance(word.get("word"), str):
            raise self.source.error('not a word: no member "word"', "let the recogniser write it again", at)
        spans: list[tuple[int, int]] = []
        self._walk.members(at, {"word": lambda at: self._walk.string(at, spans)})
        words.add([word], spans[-1:], [(len(self.segments), 1)], [speaker])
        return end

    def _text(self, at: int) -> int:
        return self._walk.string(at, self.texts)


def has_member(data: bytes, name: str) -> bool:
    """Whether an object of JSON has a member of this name; a string that is a value has no colon after it."""
    return re.search(rb'"%b"\s*:' % name.encode(), data) is not None


def has_list(data: bytes, name: str) -> bool:
    """Whether an object of JSON has a list of this name."""
    return re.search(rb'"%b"\s*:\s*\[' % name.encode(), data) is not None


def is_object_with(data: bytes, *names: str) -> bool:
    """Whether the bytes begin an object of JSON, and members of all these names are in them."""
    return data.lstrip()[:1] == b"{" and all(has_member(data, name) for name in names)
