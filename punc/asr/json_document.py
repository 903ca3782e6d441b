"""The words of a recogniser's JSON as a document: primary places, and the texts and lists that repeat them."""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from punc.asr.document import Document, Places, Source, decoded, no_places, texts_at
from punc.asr.json_words import JsonSegment, JsonWords, Keys
from punc.asr.matching import folded, matched
from punc.asr.places import WordPlaces, no_words, same_bytes, word_places
from punc.asr.word_list import WordList
from punc.base.runs import ends_of_runs, starts_of_runs
from punc.data.datadir import LATEST

ESCAPED_BLANK = re.compile(rb"\\(?:(\\)|[nrtf]|u00(?:0[9a-dA-D]|20))")  # or a backslash, which is none
ODD = re.compile(rb"\\[nrtf]|\\u00[01]|\\u[dD][89a-fA-F]")  # what may stand for a blank, NUL or half a surrogate pair
BLANKS, NO_CHARACTER = re.compile(r"[ \t\n\r\f\v]+"), re.compile("[\0\ud800-\udfff]")
BLANK = ord(" ")


def read_json(source: Source, name: str, keys: Keys) -> Document:
    """The document of a JSON file. Raises InputError for broken files, and for times that are no numbers."""
    found = JsonWords(source, keys)
    own = [i for i, segment in enumerate(found.segments) if segment.text]
    if len(found.words):
        listed = {number for number, count in found.words.counts if count}
        bare = [i for i in own if i not in listed]
        document = _merged(_of_words(source, name, found.words, found),
                           texts_document(source, name, found.segments, bare))
        texts = [span for i in own if i in listed and (span := found.segments[i].text)]
        return document._replace(copies=copied_texts(source, document, [texts, found.texts], [found.copied]))
    beside = [JsonSegment(None, None, None, text) for text in found.texts]
    document = texts_document(source, name, *((found.segments, own) if own else (beside, range(len(beside)))))
    if len(found.copied):  # a list beside the segments, with times; if it has all their words
        listed_words = _of_words(source, name, found.copied, found)
        if not {*map(folded, document.pieces)} - {*map(folded, listed_words.pieces)}:
            texts = [span for i in own if (span := found.segments[i].text)]
            return listed_words._replace(copies=copied_texts(source, listed_words, [texts, found.texts], []))
    return document._replace(copies=copied_texts(source, document, [found.texts] if own else [], [found.copied]))


def _of_words(source: Source, name: str, words: WordList, found: JsonWords) -> Document:
    """A document whose pieces are the words of lists."""
    starts, stops = words.spans()
    field = stops + 1  # after the quote
    array = np.frombuffer(source.data, np.uint8)
    blank = (array[starts] == BLANK) & (starts < stops)
    while (more := (array[starts] == BLANK) & (starts < stops)).any():
        starts = starts + more
    while (more := (array[stops - 1] == BLANK) & (starts < stops)).any():
        stops = stops - more
    segments = words.segments()
    # Whisper's words begin with a blank, if there is one in the text: ` state`, `-of`, `-the`, `-art`.
    joined = ~blank & (blank.any() & ~starts_of_runs(segments))
    begins, ends, confidences = words.numbers()
    if words.wrong:
        at, value = words.wrong
        raise source.error(f"{value[:40]} is not a number of seconds", "let the recogniser write it again",
                           int(starts[at]))
    first, last = np.flatnonzero(starts_of_runs(segments)), np.flatnonzero(ends_of_runs(segments))
    if found.segments and words is found.words:
        number = segments[first].tolist()
        _fill(begins, first, [found.segments[i].begin for i in number])
        _fill(ends, last, [found.segments[i].end for i in number])
    return _document(source, name, starts, stops, joined, begins, ends, segments, words.speakers,
                     confidences)._replace(field=field)


def texts_document(source: Source, name: str, segments: Sequence[JsonSegment], numbers: Sequence[int]) -> Document:
    """A document whose pieces are the words of the texts of some segments."""
    spans = [(span, segments[i]) for i in numbers if (span := segments[i].text)]
    starts, stops, joined, ranges = _words_of(source.data, [span for span, _ in spans]) if spans else no_words()
    times = np.full((2, len(starts)), np.nan)
    first, last = np.flatnonzero(starts_of_runs(ranges)), np.flatnonzero(ends_of_runs(ranges))
    own = [spans[i][1] for i in ranges[first].tolist()]
    _fill(times[0], first, [segment.begin for segment in own])
    _fill(times[1], last, [segment.end for segment in own])
    speakers = [spans[i][1].speaker for i in ranges.tolist()]
    return _document(source, name, starts, stops, joined, times[0], times[1], np.array(numbers, np.int64)[ranges],
                     speakers, np.full(len(starts), np.nan))


def _merged(words: Document, texts: Document) -> Document:
    """The pieces of both, segment by segment. Those of texts have no field for a probability."""
    if not texts.pieces:
        return words
    order = np.argsort(np.append(words.segments, texts.segments), kind="stable")
    pieces = words.pieces + texts.pieces
    speakers = list(dict.fromkeys(words.speakers + texts.speakers))
    moved = np.array([speakers.index(name) for name in texts.speakers] + [-1], np.int64)[texts.speaker]
    field = np.append(np.zeros(0, np.int64) if words.field is None else words.field, np.full(len(texts.pieces), -1))
    columns: dict[str, Any] = {name: np.append(getattr(words, name), getattr(texts, name))[order] for name in
               ("starts", "stops", "joined", "begins", "ends", "segments", "streams", "recording", "confidences")}
    return words._replace(pieces=[pieces[i] for i in order.tolist()], speakers=speakers, field=field[order],
                          speaker=np.append(words.speaker, moved)[order], **columns)


def _document(source: Source, name: str, starts: np.ndarray, stops: np.ndarray, joined: np.ndarray,
              begins: np.ndarray, ends: np.ndarray, segments: np.ndarray, speakers: Sequence[Any],
              confidences: np.ndarray) -> Document:
    numbers: dict[str, int] = {}
    zeros, speaker = np.broadcast_to(np.array([[0], [-1]]), (2, len(starts)))  # they take no memory
    names = ["" if one is None else str(one) for one in speakers]
    if any(names):
        speaker = np.array([numbers.setdefault(name, len(numbers)) if name else -1 for name in names], np.int64)
    encode = _escaped_ascii if source.data.isascii() else _escaped
    return Document(source.data, json_strings(texts_at(source.data, starts, stops)), starts, stops, joined, begins,
                    ends, segments, zeros, [""], zeros, list(map(json_name, numbers)), speaker, confidences,
                    no_places(), encode, None, name, source.encoding, source.bom)


def copied_texts(source: Source, document: Document, texts: Sequence[list[tuple[int, int]]],
                 lists: Sequence[WordList] = ()) -> Places:
    """The places of texts and lists that repeat the words."""
    places = [_words_of(source.data, spans)[:2] for spans in texts if spans]
    places += [words.spans() for words in lists if len(words)]
    found = [_same(source.data, *place, document) or
             matched(json_strings(texts_at(source.data, *place)), *place, document) for place in places]
    return Places(*map(np.concatenate, zip(*found))) if found else no_places()


def _same(data: bytes, starts: np.ndarray, stops: np.ndarray, document: Document) -> Places | None:
    """Places that have the bytes of the document's words, as most have; None for others."""
    if document.joined.any() or not same_bytes(data, starts, stops, document.starts, document.stops):
        return None
    words = np.arange(len(starts), dtype=np.int32)
    return Places(starts, stops, words, words + 1, np.zeros(len(words), bool))


def _words_of(data: bytes, spans: list[tuple[int, int]]) -> WordPlaces:
    """The words of strings."""
    spans = sorted(spans)
    begins, ends = np.array(spans, np.int64).T
    texts = b"".join([data[begin:end] for begin, end in spans])  # a small part of the file
    if b"\\" in texts:
        texts = ESCAPED_BLANK.sub(lambda found: found[0] if found[1] else b" " * len(found[0]), texts)
    stops = np.cumsum(ends - begins)
    places = word_places(texts, stops - (ends - begins), stops)
    moved = (ends - stops)[places.ranges]
    return places._replace(starts=places.starts + moved, stops=places.stops + moved)


def _fill(times: np.ndarray, at: np.ndarray, values: Sequence[Any]) -> None:
    """Put the times of segments where their first or last word has none."""
    known = np.array([json_number(value) for value in values], float)
    times[at] = np.where(np.isnan(times[at]), known, times[at])


def json_number(value: Any) -> float:
    """A number of JSON; NaN for what is none, or none that a time can be."""
    return float(value) if type(value) in (int, float) and abs(value) < LATEST else np.nan


def json_strings(raw: Sequence[bytes]) -> list[str]:
    """The values of strings, given what stands between their quotes; those that no text file can hold are changed."""
    joined = b'","'.join(raw)
    if not raw or b"\\" not in joined:
        return decoded(raw)
    texts = json.loads(b'["%b"]' % joined)
    if not ODD.search(joined):
        return texts
    return list(map(_clean, texts))


def _clean(text: str) -> str:
    """A text without characters that no text file can hold, and with single blanks."""
    return NO_CHARACTER.sub("\ufffd", BLANKS.sub(" ", text)).strip(" ")


def _escaped(texts: Sequence[str]) -> list[bytes]:
    return _dumped(texts, False)


def _escaped_ascii(texts: Sequence[str]) -> list[bytes]:
    return _dumped(texts, True)


def _dumped(texts: Sequence[str], ascii_only: bool) -> list[bytes]:
    """Texts as JSON strings without quotes, all at once; in a string, a backslash stands before each quote."""
    return json.dumps(texts, ensure_ascii=ascii_only).encode()[2:-2].split(b'", "') if texts else []


def json_name(text: str) -> str:
    """A name, given a string that was read as Latin-1; one with escapes beyond that is as it should be."""
    with suppress(UnicodeError):
        text = text.encode("latin-1").decode()
    return _clean(text)
