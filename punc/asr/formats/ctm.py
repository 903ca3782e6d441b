"""CTM, NIST's and Kaldi's timed words: `id channel begin duration word [confidence [type [speaker]]]`.

Source: NIST's SCTK, `doc/infmts.htm`; Kaldi's `steps/get_ctm.sh`. Comments (`;;`), silences and alternatives stay as
they are; of alternatives the first is read. A stream is a channel of an id, in time order, whatever the order of lines.
"""

import re

import numpy as np

from punc.asr.document import Document, Source, decoded, no_places, texts_at
from punc.asr.places import word_places
from punc.asr.segments import Names, encoded
from punc.data.datadir import LATEST
from punc.timing.ctm import ctm_rows

AFTER = ("vosk", "whisper", "whisperx", "srt", "webvtt", "textgrid")
NUMBER = rb"-?\d*\.?\d+(?:[eE][-+]?\d+)?"
COMMENTS = rb"(?:[ \t]*(?:;;[^\n]*)?\r?\n)*"
CONFIDENCE = rb"(?:[ \t]+(?:NA|" + NUMBER + rb")(?:[ \t]+\S+){0,2})?"
WORD = NUMBER + rb"[ \t]+" + NUMBER + rb"[ \t]+\S+" + CONFIDENCE
FIRST = re.compile(COMMENTS + rb"[ \t]*[^\s;]\S*[ \t]+\S+[ \t]+(?:" + WORD + rb"|\S+[ \t]+\S+[ \t]+<ALT_BEGIN>[^\n]*)"
                   rb"[ \t]*(?:\r?\n|\Z)")
ALTERNATIVES = "<ALT_BEGIN>", "<ALT>", "<ALT_END>"


def recognises(data: bytes) -> bool:
    """Whether the first line that is no comment has five to eight columns, with times in the third and the fourth."""
    return FIRST.match(data) is not None


def read(source: Source) -> Document:
    """Read a file. Raises InputError for lines with other columns, and for times that are none."""
    starts, stops, first, counts = _columns(source)
    words, place = decoded(texts_at(source.data, starts[first + 4], stops[first + 4])), np.arange(len(first))
    kept = _kept(source, words)
    begins, durations = (_numbers(source, starts, stops, first[kept] + i) for i in (2, 3))
    first, counts, place = first[kept], counts[kept], place[kept]
    keys, ids, channels = texts_at(source.data, starts[first], stops[first + 1]), Names(), Names()
    written: dict[bytes, int] = {}  # ids and channels with the blanks between them
    of_line = np.fromiter((written.setdefault(key, len(written)) for key in keys), np.int64, len(keys))
    streams = Names()
    stream = np.array([streams[b" ".join(key.split()).decode()] for key in written], np.int64)[of_line]
    parts = [key.split(" ") for key in streams]
    recording = np.array([ids[id] for id, _ in parts], np.int64)[stream]
    several = len(parts) > len(ids)  # an id has two channels, which then are its speakers
    speaker = np.array([channels[channel] if several else -1 for _, channel in parts], np.int64)[stream]
    for i in np.flatnonzero(counts == 8).tolist():
        speaker[i] = channels[source.data[starts[first[i] + 7]:stops[first[i] + 7]].decode()]
    confidences = np.full(len(first), np.nan)
    rated = np.flatnonzero(counts > 5)
    rated = rated[[text != b"NA" for text in texts_at(source.data, starts[first[rated] + 5], stops[first[rated] + 5])]]
    confidences[rated] = _numbers(source, starts, stops, first[rated] + 5)
    order = np.lexsort((begins, stream))
    own = first[order] + 4
    return Document(source.data, [words[i] for i in place[order].tolist()], starts[own], stops[own],
                    np.zeros(len(own), bool), begins[order], (begins + durations)[order], stream[order], stream[order],
                    list(ids), recording[order], list(channels), speaker[order], confidences[order], no_places(),
                    encoded, None, "ctm", source.encoding, source.bom)


def _columns(source: Source) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Begin and end of every column; the first column of each line that is no comment, and how many it has."""
    data = source.data
    starts, stops, _, _ = word_places(data, np.array([0]), np.array([len(data)]))
    lines = np.searchsorted(np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")), starts)
    first = np.flatnonzero(np.append(True, lines[1:] != lines[:-1])) if len(lines) else lines
    counts = np.diff(np.append(first, len(starts)))
    array = np.frombuffer(data + b"\0", np.uint8)
    comment = (array[starts[first]] == ord(";")) & (array[starts[first] + 1] == ord(";"))
    first, counts = first[~comment], counts[~comment]
    if ((counts < 5) | (counts > 8)).any():
        at = int(np.argmax((counts < 5) | (counts > 8)))
        raise source.error(f"{counts[at]} columns", "write: id channel begin duration word [confidence]",
                           int(starts[first[at]]))
    return starts, stops, first, counts


def _kept(source: Source, words: list[str]) -> np.ndarray:
    """The lines with words that are read: none of later alternatives, and no marks of alternatives."""
    kept, later = np.ones(len(words), bool), False
    if b"<ALT" in source.data:
        for i, word in enumerate(words):
            if word in ALTERNATIVES:
                later, kept[i] = word == "<ALT>", False
            kept[i] &= not later
    return np.flatnonzero(kept)


def _numbers(source: Source, starts: np.ndarray, stops: np.ndarray, at: np.ndarray) -> np.ndarray:
    """A column as numbers. Raises InputError for one that is none, negative or no time of a recording."""
    texts = texts_at(source.data, starts[at], stops[at])
    try:
        numbers = np.fromiter(map(float, texts), float, len(texts))
    except ValueError:
        numbers = np.full(len(texts), np.nan)
    if not ((numbers >= 0) & (numbers < LATEST)).all() or b"_" in b"".join(set(texts)):
        lines = source.data.splitlines(keepends=True)
        for _ in ctm_rows(enumerate((line.replace(b"\r", b"") for line in lines), 1), source.path):
            pass  # raises the error, with its line
    return numbers
