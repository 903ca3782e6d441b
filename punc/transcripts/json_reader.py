"""Reads the JSON of recognisers, with the help of a table of formats (`json_formats`)."""

import math
from collections.abc import Iterator
from typing import Any

from punc.transcripts import json_shape, json_words
from punc.transcripts.json_file import JsonDocument
from punc.transcripts.json_shape import JsonFormat, Shape, Span, Spot, Word, getter, places, seconds, values
from punc.transcripts.transcript import BEGINS_WITH_BLANK, Repeat, Text, folded, split


class JsonReader:
    """Reads the documents of a JSON file in the format that `row` describes. Collects `texts`, `repeats` and
    `language`."""

    def __init__(self, row: JsonFormat, document: JsonDocument, timed: bool = False):
        self.texts: list[Text] = []
        self.repeats: list[Repeat] = []
        self.language = ""
        self.shape = Shape(row)
        self.skipped: list[Any] = []
        self._row, self._document, self._timed = row, document, timed
        self._segment, self._stream, self._recording = 0, -1, ""
        # Indices in `texts`: the stream's first text, and its first text whose words are not yet in `_before`.
        self._begun = self._counted = 0
        self._before: list[str] = []  # words of the stream, folded for comparison
        self._spaced = False  # whether words include the space before them, as in Whisper's output
        self._open = False  # whether the end time of the last word is the end time of its segment

    def read(self, documents: list[Any]) -> None:
        documents = self._final(documents)
        recordings = self._recordings(documents)
        for document in documents:
            first = len(self.texts)
            self.language = self.language or str(getter(self._row.language)(document) or "").strip("<|>")
            for recording in values(document, self._row.recordings):
                name, begins = next(recordings)
                self._read_recording(recording, name, begins)
            self._read_repeats(document, first)
        if not self._row.unit:
            self.texts = json_words.in_seconds(self.texts)

    @property
    def words(self) -> int:
        return sum(len(text.text.split()) for text in self.texts)

    @property
    def has_times(self) -> bool:
        return any(text.times or text.begin == text.begin or text.end == text.end for text in self.texts)

    def _final(self, found: list[Any]) -> list[Any]:
        if not self._row.skip:
            return found
        self.skipped += [value for value in found if not self.shape.is_final(value)]
        return [value for value in found if self.shape.is_final(value)]

    def _recordings(self, documents: list[Any]) -> Iterator[tuple[str, bool]]:
        row = self._row
        names, begins = list[str](), list[bool]()
        for document in documents:
            goes_on = bool(row.part) and getter(row.part)(document) is not None
            for recording in values(document, row.recordings):
                name = "_".join(json_shape.speaker_name(getter(row.recording)(recording)).split())
                begins.append(not names or (bool(row.recordings) and not (goes_on and name == names[-1])))
                names.append(name)
        count, several = 0, sum(begins) > 1
        for name, begin in zip(names, begins):
            count += begin
            yield name or (str(count) if several else ""), begin

    def _read_recording(self, recording: Any, name: str, begins: bool) -> None:
        self._recording = name
        streams = [(recording, None)]
        if self._row.streams:
            streams = [(holder[key], key) for holder, key in places(recording, self._row.streams)]
        for number, (stream, key) in enumerate(streams):
            self._stream += begins or number > 0
            first = self._begun = self._counted = len(self.texts)
            self._before = []
            speaker = key.removesuffix("words").rstrip(" -") if isinstance(key, str) else self.shape.speaker(stream)
            for segment in self._final(values(stream, self._row.segments)):
                self._read_segment(segment, json_shape.speaker_name(speaker))
            if self._row.pieces and any(BEGINS_WITH_BLANK.match(text.text) for text in self.texts[first:]):
                self.texts[first:] = json_words.joined(self.texts[first:])

    def _read_segment(self, segment: Any, speaker: str) -> None:
        shape, first = self.shape, len(self.texts)
        self._segment += 1
        own = shape.speaker(segment)
        speaker = speaker if own is None else json_shape.speaker_name(own)
        found = shape.words(segment)
        spans = shape.spans(segment, found)
        words = self._words(found, spans, speaker)
        texts = []
        for path in self._row.text.split():
            some = self._texts(places(segment, path), segment, speaker)
            if some:
                texts.append(some)
        if words and self._row.again and not texts and self._repeats_all(words):
            return
        timed = self._timed and any(word.begin == word.begin for word in words)
        if words and (timed or not (texts and self._text_is_better(texts[0], words))):
            self._add_words(words)
            self._fill(first, *shape.span(segment, is_segment=True))
        elif texts:
            self._add_texts(texts.pop(0), segment, spans)
            if words:
                self._repeat_said(words, first)
        for some in texts:
            self._repeat(some, first)

    def _words(self, found: list[Word], spans: list[Span], speaker: str) -> list[Text]:
        words, shape = [], self.shape
        for (_, value, spot), span in zip(found, spans):
            own = shape.speaker(value)
            name = speaker if own is None else json_shape.speaker_name(own)
            is_mark = self._row.mark != "" and shape.is_mark(value)
            words.append(self._text(spot, span, name, seconds(shape.confidence(value)), is_mark))
        return words

    def _texts(self, spots: list[Spot], segment: Any, speaker: str = "") -> list[Text]:
        confidence = seconds(self.shape.confidence(segment))
        known = filter(json_shape.has_text, spots)
        return [self._text(spot, json_shape.UNKNOWN, speaker, confidence) for spot in known]

    def _text(self, spot: Spot, span: Span, speaker: str, confidence: float, joined: bool = False) -> Text:
        place, text = self._document.place(*spot)
        stream = max(self._stream, 0)
        return Text(place, text, *span, speaker, confidence, self._segment, stream, self._recording, joined)

    def _repeats_all(self, words: list[Text]) -> bool:
        """Return whether `words` have speakers and repeat the earlier words of the stream: all of them, or at least the
        first half. If so, the repeated words get these speakers."""
        for text in self.texts[self._counted:]:
            self._before += map(folded, split(text.text))
        self._counted = len(self.texts)
        said = [folded(word.text) for word in json_words.by_word(words)]
        most = 0 < len(self._before) <= 2 * len(words)
        if not most or not any(word.speaker for word in words) or self._before[:len(said)] != said:
            return False
        self._repeat_said(words, self._begun)
        return True

    def _text_is_better(self, texts: list[Text], words: list[Text]) -> bool:
        """Return whether `texts` have more words than `words`, or have marks although `words` have none. If `words` are
        pieces of words, return whether `texts` differ from these pieces."""
        text = " ".join(text.text for text in texts)
        parts = [word.text for word in words]
        said, whole = split(text), split("".join(parts))
        if not self._row.word:
            return said != whole and said != [part.strip() for part in parts]
        spoken = len(whole) if any(map(BEGINS_WITH_BLANK.match, parts)) else len(parts)
        find_mark = json_shape.MARK.search
        return len(said) > spoken or (find_mark(text) is not None and not any(map(find_mark, parts)))

    def _add_words(self, words: list[Text]) -> None:
        first = len(self.texts)
        for word in words:
            if word.joined and math.isnan(word.begin) and self.texts:  # a mark
                word = word._replace(begin=self.texts[-1].end, end=self.texts[-1].end)
            self.texts.append(word)
        self._spaced = self._spaced or any(BEGINS_WITH_BLANK.match(word.text) for word in words)
        if self._spaced:
            self.texts[first:] = json_words.joined(self.texts[first:])

    def _add_texts(self, texts: list[Text], segment: Any, spans: list[Span]) -> None:
        begin, end = self.shape.span(segment, is_segment=True)
        if spans:
            begin = json_words.known(begin, spans[0][0])
            end = json_words.known(end, spans[-1][1])
        if self._row.lists and len(texts) == 1 and 1 < len(spans) == len(split(texts[0].text)):
            texts = [texts[0]._replace(times=tuple(spans))]
        self.texts += texts
        self._fill(len(self.texts) - len(texts), begin, end)

    def _fill(self, first: int, begin: float, end: float) -> None:
        texts = self.texts
        if math.isnan(texts[first].begin):
            texts[first] = texts[first]._replace(begin=begin)
        before, start = texts[first - 1], texts[first].begin
        if self._open and before.stream == self._stream and before.end > start and not start < before.begin:
            texts[first - 1] = before._replace(end=start)
        self._open = math.isnan(texts[-1].end)
        if self._open:
            texts[-1] = texts[-1]._replace(end=end)

    def _read_repeats(self, document: Any, first: int) -> None:
        row = self._row
        if row.speakers:
            labels = [holder[key] for holder, key in places(document, row.speakers)]
            self.texts[first:] = json_words.with_speakers(self.texts[first:], labels)
        whole = any(segment is document for segment in values(document, row.segments)[:1])
        for path in row.repeats.split():
            if whole and path in row.text.split():
                continue  # `_read_segment` has read these texts, because the document is its own segment
            texts = self._texts(places(document, path), document)
            if len(self.texts) > first:
                self._repeat(texts, first)
            elif texts:
                self._stream = max(self._stream, 0)
                self._add_texts(texts, document, [])
        for path in row.timed.split():
            found = []
            for holder, key in places(document, path):
                spot = self.shape.spot_of(holder[key])
                if spot and isinstance(spot[0][spot[1]], str):
                    found.append(Word(0, holder[key], spot))
            if found and len(self.texts) > first:
                self._repeat_said(self._words(found, self.shape.spans(document, found), ""), first)

    def _repeat_said(self, words: list[Text], first: int) -> None:
        ordered = json_words.in_order_of(self.texts[first:], words)
        if ordered is None:
            self.texts[first:] = json_words.with_said(self.texts[first:], words)
        self._repeat(ordered or words, first)

    def _repeat(self, texts: list[Text], first: int) -> None:
        if texts and len(self.texts) > first:
            self.repeats.append(Repeat([(text.place, text.text) for text in texts], first, len(self.texts)))
