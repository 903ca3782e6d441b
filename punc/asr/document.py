"""The file of a recogniser: its bytes, and its words as places in them.

A writer puts new text into the places of words and copies every other byte, so what it does not change stays byte for
byte: other fields, order, times, line ends.
"""

import codecs
import os
from collections.abc import Callable, Sequence
from typing import IO, NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.files import open_input
from punc.base.runs import bounds_of, previous_of

BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
BATCH = 1 << 16  # places that are written at a time


class Places(NamedTuple):
    """Places in the bytes of a file, integers (P,) each: bytes [start, stop) show the pieces [first, last).

    other   bool (P,): a place has other marks or letter case than its pieces, and always gets theirs
    """

    starts: np.ndarray
    stops: np.ndarray
    first: np.ndarray
    last: np.ndarray
    other: np.ndarray


class Document(NamedTuple):
    """N pieces of words in the order of reading, stream after stream.

    A word is a piece, or several with no blank between them.

    data          the file as UTF-8, without a byte-order mark
    pieces        the text of each piece
    starts, stops int64 (N,): the bytes of each piece
    joined        bool (N,): the piece goes on the word of the piece before
    begins, ends  float64 (N,), seconds; NaN where the file has none
    segments      int64 (N,): the segment of the file (a line, a cue) that the piece is in
    streams       int64 (N,): pieces of a stream are one text for a model
    recordings    the name of each recording, and `recording`, int64 (N,), the one of each piece; times of a recording
                  count from one start
    speakers      the name of each speaker, and `speaker`, int64 (N,), the one of each piece, -1 if it is not known
    confidences   float64 (N,), the recogniser's; NaN where there is none
    copies        places that repeat words, as the text of a segment does
    encode        texts → how the format writes them
    field         (N,) where a field for the probability of a label can be inserted, -1 nowhere; None if the format has
                  none
    format        the name of the format
    encoding, bom how the file is encoded, and whether a byte-order mark begins it
    """

    data: bytes
    pieces: list[str]
    starts: np.ndarray
    stops: np.ndarray
    joined: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    segments: np.ndarray
    streams: np.ndarray
    recordings: list[str]
    recording: np.ndarray
    speakers: list[str]
    speaker: np.ndarray
    confidences: np.ndarray
    copies: Places
    encode: Callable[[Sequence[str]], list[bytes]]
    field: np.ndarray | None = None
    format: str = ""
    encoding: str = "utf-8"
    bom: bool = False


class Source(NamedTuple):
    """The bytes of a file as UTF-8, and how it was encoded."""

    path: str
    data: bytes
    encoding: str
    bom: bool

    def line(self, at: int) -> int:
        """The number of the line that the byte `at` is in."""
        return self.data.count(b"\n", 0, at) + 1

    def error(self, what: str, remedy: str, at: int) -> InputError:
        """An error at a byte of the file."""
        return InputError(what, remedy, self.path, self.line(at))


def read_source(path: str | os.PathLike[str]) -> Source:
    """The bytes of a file in UTF-8 or, after a byte-order mark, UTF-16. Raises InputError for other bytes and NUL."""
    with open_input(path) as file:
        raw = file.read()
    encoding, bom = next(((name, bom) for bom, name in BOMS if raw.startswith(bom)), ("utf-8", b""))
    data = raw[len(bom):]
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"not {encoding.upper()[:6].rstrip('-')}", "convert it: iconv -t UTF-8", path, line) from None
    source = Source(os.fspath(path), data if encoding == "utf-8" else text.encode(), encoding, bool(bom))
    if (at := source.data.find(b"\0")) >= 0:
        raise source.error("a NUL byte", "remove it: the file is not text, or is broken", at)
    return source


def no_places() -> Places:
    """No places."""
    none = np.zeros(0, np.int64)
    return Places(none, none, none, none, np.zeros(0, bool))


def texts_at(data: bytes, starts: np.ndarray, stops: np.ndarray) -> list[bytes]:
    """The bytes of places."""
    return [data[start:stop] for start, stop in zip(starts.tolist(), stops.tolist())]


def decoded(raw: Sequence[bytes]) -> list[str]:
    """Bytes without line ends as text, all at once."""
    return b"\n".join(raw).decode().split("\n") if raw else []


def write_document(file: IO[bytes], document: Document, texts: Sequence[str],
                   probabilities: np.ndarray | None = None) -> None:
    """Write the file with new texts.

    texts          N texts, one for each piece; a place whose text does not change is copied
    probabilities  (N,) for `field`, NaN where there is none; None writes none
    """
    copies, count = document.copies, len(texts)
    changed = np.fromiter((new != old for new, old in zip(texts, document.pieces)), bool, count)
    before = bounds_of(changed)
    used = np.flatnonzero((before[copies.last] > before[copies.first]) | copies.other)
    own, starts, stops = np.flatnonzero(changed), [], []
    new = document.encode([texts[i] for i in own.tolist()])
    starts, stops = [document.starts[own]], [document.stops[own]]
    new += document.encode(["".join(texts[first:last]) for first, last in
                            zip(copies.first[used].tolist(), copies.last[used].tolist())])
    starts.append(copies.starts[used])
    stops.append(copies.stops[used])
    if probabilities is not None and document.field is not None:
        known = np.flatnonzero(~np.isnan(probabilities) & (document.field >= 0))
        new += [b', "label_probability": %.4f' % value for value in probabilities[known].tolist()]
        starts.append(document.field[known])
        stops.append(document.field[known])
    _put(file, document, np.concatenate(starts), np.concatenate(stops), new)


def _put(file: IO[bytes], document: Document, starts: np.ndarray, stops: np.ndarray, new: list[bytes]) -> None:
    """Write the document's bytes with new ones in the places [start, stop), in any order; no two overlap."""
    order = np.argsort(starts, kind="stable")
    first, last = starts[order], stops[order]
    bounds = previous_of(last, 0)
    if document.bom:
        file.write(next(bom for bom, name in BOMS if name == document.encoding))
    recode, tail = document.encoding != "utf-8", int(last[-1]) if len(last) else 0
    for low in range(0, len(order), BATCH):
        part = slice(low, low + BATCH)
        pieces = [b""] * (2 * len(order[part]))
        pieces[::2] = texts_at(document.data, bounds[part], first[part])
        pieces[1::2] = map(new.__getitem__, order[part].tolist())
        block = b"".join(pieces)
        file.write(block.decode().encode(document.encoding) if recode else block)
    rest = document.data[tail:]
    file.write(rest.decode().encode(document.encoding) if recode else rest)
