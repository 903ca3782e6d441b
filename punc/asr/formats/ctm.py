"""CTM, NIST's and Kaldi's timed words: `id channel begin duration word [confidence [type [speaker]]]`.

Source: NIST's SCTK, `doc/infmts.htm`; Kaldi's `steps/get_ctm.sh`. Comments (`;;`), silences and alternatives stay as
they are; of alternatives the first is read. A stream is a channel of an id, in time order, whatever the order of lines.
"""

import re
from io import BytesIO
from typing import NamedTuple

import numpy as np

from punc.asr.document import Document, Source, decoded, no_places, texts_at
from punc.asr.places import word_places
from punc.asr.segments import Names, encoded
from punc.data.datadir import LATEST
from punc.timing.ctm import ctm_rows

BATCH_LINES = 1 << 14  # lines whose columns are in memory at a time
AFTER = ("vosk", "whisper", "whisperx", "srt", "webvtt", "textgrid")
NUMBER = rb"-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?"
COMMENTS = rb"(?:[ \t]*(?:;;[^\n]*|\r?)\n)*"
CONFIDENCE = rb"(?:[ \t]+(?:NA|" + NUMBER + rb")(?:[ \t]+\S+){0,2})?"
WORD = NUMBER + rb"[ \t]+" + NUMBER + rb"[ \t]+\S+" + CONFIDENCE
FIRST = re.compile(COMMENTS + rb"[ \t]*[^\s;]\S*[ \t]+\S+[ \t]+(?:" + WORD + rb"|\S+[ \t]+\S+[ \t]+<ALT_BEGIN>[^\n]*)"
                   rb"[ \t]*(?:\r?\n|\Z)")
ALTERNATIVES = "<ALT_BEGIN>", "<ALT>", "<ALT_END>"


def recognises(data: bytes) -> bool:
    """Whether the first line that is no comment has five to eight columns, with times in the third and the fourth."""
    return FIRST.match(data) is not None


class Lines(NamedTuple):
    """N lines as columns.

    words    the words
    numbers  float64 (3, N): begins and durations in seconds, and confidences, NaN where there is none
    keys     int64 (N,): the place of each line's id and channel in `names`
    names    the different ids and channels
    """

    words: list[str]
    numbers: np.ndarray
    keys: np.ndarray
    names: list[tuple[bytes, bytes]]


def read(source: Source) -> Document:
    """Read a file. Raises InputError for lines with other columns, and for times that are none."""
    starts, stops, first, counts = _columns(source)
    if b"<ALT" in source.data:
        kept = _kept(decoded(texts_at(source.data, starts[first + 4], stops[first + 4])))
        first, counts = first[kept], counts[kept]
    words, (begins, durations, confidences), key, keys = _read(source, starts, first, counts)
    ids, channels = Names[str](), Names[str]()
    parts = [(ids[id.decode()], channel.decode()) for id, channel in keys]
    several = len(parts) > len(ids)  # an id has two channels, which then are its speakers
    recording = np.array([id for id, _ in parts], np.int64)[key]
    speaker = np.array([channels[channel] if several else -1 for _, channel in parts], np.int64)[key]
    for i in np.flatnonzero(counts == 8).tolist():
        speaker[i] = channels[source.data[starts[first[i] + 7]:stops[first[i] + 7]].decode()]
    order = np.lexsort((begins, key))
    own, stream = first[order] + 4, key[order]
    return Document(source.data, [words[i] for i in order.tolist()], starts[own], stops[own], np.zeros(len(own), bool),
                    begins[order], (begins + durations)[order], stream, stream, list(ids), recording[order],
                    list(channels), speaker[order], confidences[order], no_places(), encoded, None, "ctm",
                    source.encoding, source.bom)


def _read(source: Source, starts: np.ndarray, first: np.ndarray, counts: np.ndarray) -> Lines:
    """The lines, given where columns start, and the first column of each line and how many it has."""
    names, words = Names[tuple[bytes, bytes]](), list[str]()
    numbers, keys = np.full((3, len(first)), np.nan), np.zeros(len(first), np.int64)
    bounds = np.append(starts, len(source.data))
    for low in range(0, len(first), BATCH_LINES):
        lines = slice(low, low + BATCH_LINES)
        begin, end = first[lines][0], first[lines][-1] + counts[lines][-1]
        texts = source.data[bounds[begin]:bounds[end]].split()
        own = first[lines] - begin
        words += decoded(_at(texts, own + 4))
        keys[lines] = list(map(names.__getitem__, zip(_at(texts, own), _at(texts, own + 1))))
        numbers[0, lines], numbers[1, lines] = (_numbers(source, _at(texts, own + i)) for i in (2, 3))
        rated = np.flatnonzero(counts[lines] > 5)
        rates = _at(texts, own[rated] + 5)
        if b"NA" in rates:
            rated = rated[[text != b"NA" for text in rates]]
            rates = _at(texts, own[rated] + 5)
        numbers[2, low + rated] = _numbers(source, rates)
    return Lines(words, numbers, keys, list(names))


def _at(texts: list[bytes], places: np.ndarray) -> list[bytes]:
    return list(map(texts.__getitem__, places.tolist()))


def _columns(source: Source) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Begin and end of every column; the first column of each line that is no comment, and how many it has."""
    data = source.data
    starts, stops, _, _ = word_places(data, np.array([0]), np.array([len(data)]))
    newlines = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
    first = np.searchsorted(starts, np.append(0, newlines))  # of an empty line, the first column of the next
    first = first[np.append(first[1:] > first[:-1], first[-1] < len(starts))]
    counts = np.diff(np.append(first, len(starts)))
    array = np.frombuffer(data + b"\0", np.uint8)
    comment = (array[starts[first]] == ord(";")) & (array[starts[first] + 1] == ord(";"))
    first, counts = first[~comment], counts[~comment]
    if ((counts < 5) | (counts > 8)).any():
        at = int(np.argmax((counts < 5) | (counts > 8)))
        raise source.error(f"{counts[at]} columns", "write: id channel begin duration word [confidence]",
                           int(starts[first[at]]))
    return starts, stops, first, counts


def _kept(words: list[str]) -> np.ndarray:
    """The lines with words that are read: none of later alternatives, and no marks of alternatives."""
    kept, later = np.ones(len(words), bool), False
    for i, word in enumerate(words):
        if word in ALTERNATIVES:
            later, kept[i] = word == "<ALT>", False
        kept[i] &= not later
    return np.flatnonzero(kept)


def _numbers(source: Source, texts: list[bytes]) -> np.ndarray:
    """The texts of a column as numbers. Raises InputError for one that is none, negative or no time of a recording."""
    try:
        numbers = np.fromiter(map(float, texts), float, len(texts))
    except ValueError:
        numbers = np.full(len(texts), np.nan)
    if not ((numbers >= 0) & (numbers < LATEST)).all() or b"_" in b"".join(texts):
        lines = BytesIO(source.data)  # its lines end with a line feed; a carriage return alone is a blank
        for _ in ctm_rows(enumerate((line.replace(b"\r", b" ") for line in lines), 1), source.path):
            pass  # raises the error, with its line
    return numbers
