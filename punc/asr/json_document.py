"""The words of a recogniser's JSON as a document: primary places, and the texts and lists that repeat them."""

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from punc.asr.document import Document, Places, Source, decoded, no_places, texts_at
from punc.asr.json_words import JsonWords, Keys, WordList
from punc.asr.matching import matched
from punc.asr.places import WordPlaces, no_words, word_places
from punc.data.datadir import LATEST

ESCAPED_BLANK = re.compile(rb"\\[nrt]|\\u00[02][09ad0]")
NON_ASCII = re.compile(rb"[\x80-\xff]")


def read_json(source: Source, name: str, keys: Keys) -> Document:
    """The document of a JSON file. Raises InputError for broken files, and for times that are no numbers."""
    found = JsonWords(source, keys)
    words = found.words if found.words.starts else found.copied
    own = [segment.text for segment in found.segments if segment.text]
    if words.starts:
        lists = [found.copied] if words is found.words else []
        document = _of_words(source, name, words, found)
        return document._replace(copies=_copies(source, document, [own, found.texts], lists))
    document = _of_texts(source, name, found)
    return document._replace(copies=_copies(source, document, [found.texts] if own else [], []))


def _of_words(source: Source, name: str, words: WordList, found: JsonWords) -> Document:
    """A document whose pieces are the words of lists."""
    starts, stops = np.array(words.starts, np.int64), np.array(words.stops, np.int64)
    raw = texts_at(source.data, starts, stops)
    field = stops + 1  # after the quote
    blank = np.fromiter((text[:1] == b" " for text in raw), bool, len(raw))
    starts = starts + np.fromiter((len(text) - len(text.lstrip(b" ")) for text in raw), np.int64, len(raw))
    stops = stops - np.fromiter((len(text) - len(text.rstrip(b" ")) for text in raw), np.int64, len(raw))
    stops = np.maximum(starts, stops)
    segments = np.array(words.segments, np.int64)
    # Whisper's words begin with a blank, if there is one in the text: ` state`, `-of`, `-the`, `-art`.
    joined = ~blank & (blank.any() & np.append(False, segments[1:] == segments[:-1]))
    begins, ends = _times(source, words.begins, "start", starts), _times(source, words.ends, "end", starts)
    first = np.flatnonzero(np.append(True, segments[1:] != segments[:-1]))
    last = np.append(first[1:], len(segments)) - 1
    if found.segments and words is found.words:
        number = segments[first].tolist()
        _fill(begins, first, [found.segments[i].begin for i in number])
        _fill(ends, last, [found.segments[i].end for i in number])
    return _document(source, name, starts, stops, joined, begins, ends, segments, words.speakers,
                     _times(source, words.confidences, "confidence", starts))._replace(field=field)


def _of_texts(source: Source, name: str, found: JsonWords) -> Document:
    """A document whose pieces are the words of the segments' texts, or of a text without segments."""
    spans = [(segment.text, segment) for segment in found.segments if segment.text]
    spans = spans or [(text, None) for text in found.texts]
    starts, stops, joined, ranges = _words_of(source.data, [span for span, _ in spans]) if spans else no_words()
    times = np.full((2, len(starts)), np.nan)
    first = np.flatnonzero(np.append(True, ranges[1:] != ranges[:-1])) if len(ranges) else np.zeros(0, np.int64)
    last = np.append(first[1:], len(ranges))[:len(first)] - 1
    own = [spans[i][1] for i in ranges[first].tolist()]
    _fill(times[0], first, [segment and segment.begin for segment in own])
    _fill(times[1], last, [segment and segment.end for segment in own])
    speakers = [spans[i][1] and spans[i][1].speaker for i in ranges.tolist()]
    return _document(source, name, starts, stops, joined, times[0], times[1], ranges, speakers,
                     np.full(len(starts), np.nan))


def _document(source: Source, name: str, starts: np.ndarray, stops: np.ndarray, joined: np.ndarray,
              begins: np.ndarray, ends: np.ndarray, segments: np.ndarray, speakers: Sequence[Any],
              confidences: np.ndarray) -> Document:
    numbers: dict[str, int] = {}
    speaker = np.fromiter((-1 if one is None or one == "" else numbers.setdefault(str(one), len(numbers))
                           for one in speakers), np.int64, len(starts))
    zeros = np.zeros(len(starts), np.int64)
    encode = _escaped if NON_ASCII.search(source.data) else _escaped_ascii
    return Document(source.data, json_strings(texts_at(source.data, starts, stops)), starts, stops, joined, begins,
                    ends, segments, zeros, [""], zeros, [_utf8(number) for number in numbers], speaker, confidences,
                    no_places(), encode, None, name, source.encoding, source.bom)


def _copies(source: Source, document: Document, texts: list[list[tuple[int, int]]],
            lists: list[WordList]) -> Places:
    """The places of texts and lists that repeat the words."""
    places = [_words_of(source.data, spans)[:2] for spans in texts if spans]
    places += [(np.array(words.starts, np.int64), np.array(words.stops, np.int64)) for words in lists if words.starts]
    found = [matched(json_strings(texts_at(source.data, *place)), *place, document) for place in places]
    return Places(*map(np.concatenate, zip(*found))) if found else no_places()


def _words_of(data: bytes, spans: list[tuple[int, int]]) -> WordPlaces:
    """The words of strings."""
    if b"\\" in data:
        data = ESCAPED_BLANK.sub(lambda found: b" " * len(found[0]), data)
    begins, ends = np.array(sorted(spans), np.int64).T
    return word_places(data, begins, ends)


def _times(source: Source, values: Sequence[Any], key: str, starts: np.ndarray) -> np.ndarray:
    """Numbers of JSON, float64 (N,), NaN where there is none. Raises InputError for what is no time."""
    try:
        numbers = np.array([np.nan if value is None else value for value in values], float)
        numbers[~(np.abs(numbers) < LATEST)] = np.nan
        return numbers
    except (TypeError, ValueError):
        wrong = next(i for i, value in enumerate(values) if not isinstance(value, int | float | None))
        raise source.error(f'the "{key}" of a word is no number: {json.dumps(values[wrong])[:40]}',
                           "let the recogniser write it again", int(starts[wrong])) from None


def _fill(times: np.ndarray, at: np.ndarray, values: Sequence[Any]) -> None:
    """Put the times of segments where their first or last word has none."""
    known = np.array([value if isinstance(value, int | float) else np.nan for value in values], float)
    times[at] = np.where(np.isnan(times[at]), known, times[at])


def json_strings(raw: Sequence[bytes]) -> list[str]:
    """The values of strings, given what stands between their quotes."""
    joined = b'","'.join(raw)
    return json.loads(b'["%b"]' % joined) if raw and b"\\" in joined else decoded(raw)


def _escaped(texts: Sequence[str]) -> list[bytes]:
    return [json.dumps(text, ensure_ascii=False)[1:-1].encode() for text in texts]


def _escaped_ascii(texts: Sequence[str]) -> list[bytes]:
    return [json.dumps(text)[1:-1].encode() for text in texts]


def _utf8(text: str) -> str:
    """A string that was read as Latin-1; one with escapes beyond that is as it should be."""
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text
