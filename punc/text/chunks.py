"""Pieces of text on their way from raw blocks to utterances.

Each distinct line or word is analysed once and remembered: what is done for every token is a look-up.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.data.datadir import Utterance
from punc.text.prose_reader import Parts

MEMORY = 200_000  # distinct lines or words that are remembered: about 60 MB, whatever the corpus


class Unreadable(Exception):
    """What is wrong, what to do, and the piece of text at fault."""


class Piece(NamedTuple):
    """Words that follow one another in a stream.

    words, labels  blank-separated, as many labels as words
    pauses         float32 (words,), seconds; None where the format has none
    lead           label name given to the word before the piece; empty for none
    lead_pause     pause after the word before the piece; None for none
    stream         the name of the stream that begins with this piece (may be empty); None: it goes on
    end            whether an utterance ends with this piece
    """

    words: str
    labels: str
    pauses: np.ndarray | None = None
    lead: str = ""
    lead_pause: float | None = None
    stream: str | None = None
    end: bool = False


class Memo(dict):
    """Unit → its words, None where it is special; `labels` and `special` hold what goes with them."""

    def __init__(self, analyse: Callable[[str], tuple[Parts, str]]):
        self.analyse, self.labels, self.special = analyse, {}, {}

    def __missing__(self, unit: str) -> str | None:
        parts, repair = self.analyse(unit)
        if parts.lead or repair or not parts.words:
            self.special[unit] = parts, repair
            self[unit], self.labels[unit] = None, ""
        else:
            self[unit], self.labels[unit] = parts.words, parts.labels
        return self[unit]

    def forget(self) -> None:
        """Forget everything once there is too much of it, so that memory is flat."""
        if len(self) > MEMORY:
            self.clear()
            self.labels.clear()
            self.special.clear()

    def read(self, units: list[str], attach: Callable[[str, str], str], repairs: Counter) -> Piece:
        """The units as a piece; a lead goes to the word before with `attach(label, lead)`."""
        words, lead, at, before = list(map(self.__getitem__, units)), "", -1, -1
        labels = list(map(self.labels.__getitem__, units))
        for _ in range(words.count(None)):
            last, at = at, words.index(None, at + 1)
            parts, repair = self.special[units[at]]
            if repair:
                repairs[repair] += 1
            if at > last + 1:
                before = at - 1
            if parts.lead and before >= 0:
                head, blank, label = labels[before].rpartition(" ")
                labels[before] = head + blank + attach(label, parts.lead)
            elif parts.lead:
                lead = attach(lead, parts.lead) if lead else parts.lead
            words[at], labels[at] = parts.words, parts.labels
            if parts.words:
                before = at
        self.forget()
        if at >= 0:
            words, labels = filter(None, words), filter(None, labels)
        return Piece(" ".join(words), " ".join(labels), lead=lead)


def utterance_id(stream: str, number: int) -> str:
    """`STREAM-NUMBER`, zero-padded so that C order is text order."""
    return f"{stream}-{number:08d}"


def stream_name(name: str) -> str:
    """A name as an id: what Kaldi's tools may trip over becomes `_`."""
    return "".join(c if c.isalnum() or c in "-._" else "_" for c in name)


def in_order(names: Iterable[str]) -> list[str]:
    """Names of streams in C order. Raises InputError for two that are the same, or that Kaldi cannot sort.

    Utterances have to be in C order where streams are: those of talk come after those of talk-0, talk before it.
    """
    names = sorted(names, key=str.encode)
    for one, other in pairwise(names):
        if one == other:
            raise InputError(f"two streams would be called '{one}'", "rename a file, or a document")
        if other.startswith(f"{one}-") and other[len(one) + 1:] < "1":
            raise InputError(f"'{one}' and '{other}' cannot be sorted both as streams and by their utterances",
                             "rename one of them")
    return names


class Cutter:
    """Cuts pieces into utterances, and names these as `utterance_id` says.

    size         words of an utterance; 0: an utterance ends where a piece says so
    pauses       whether the utterances have pauses, if the pieces do
    attach       (label of a word, label found after it) → its label
    prefix       what stream names begin with
    independent  every utterance is a stream of its own, of the same name
    numbered     a stream's name begins with its number; else it is its piece's
    """

    def __init__(self, size: int, attach: Callable[[str, str], str], prefix: str = "", independent: bool = False,
                 pauses: bool = True, numbered: bool = True):
        self.numbered = numbered
        self.size, self.attach, self.prefix, self.independent, self.pauses = size, attach, prefix, independent, pauses
        self.dropped = 0  # marks that no word stands before
        self._stream, self._streams, self._number, self._ended = "", 0, 1, False
        self._words, self._labels, self._pauses = [], [], None

    def cut(self, pieces: Iterable[Piece]) -> Iterator[Utterance]:
        """The utterances of pieces. The last word waits for the next piece, which may begin with its mark."""
        for piece in pieces:
            if piece.stream is not None:
                yield from self._take(len(self._words))
                self._number += self._ended
                self._begin(piece.stream)
            self._lead(piece)
            if self._ended:
                yield from self._take(len(self._words))
                self._number += 1
            self._append(piece)
            self._ended = piece.end
            if len(self._words) > self.size > 0:
                yield from self._take(self.size)
        yield from self._take(len(self._words))

    def _begin(self, name: str) -> None:
        self._streams += 1
        name = stream_name(name)
        number = f"{self._streams:08d}" + ("_" if name else "")
        self._stream = self.prefix + (number if self.numbered else "") + name
        self._ended = False
        if not self.independent:
            self._number = 1

    def _lead(self, piece: Piece) -> None:
        """Give the last word what the next piece says of it."""
        known = bool(self._words) and not (self.independent and self._ended)
        if piece.lead and known:
            self._labels[-1] = self.attach(self._labels[-1], piece.lead)
        self.dropped += bool(piece.lead) and not known
        if piece.lead_pause is not None and known and self.pauses:
            self._pauses[-1] = piece.lead_pause

    def _append(self, piece: Piece) -> None:
        if not piece.words:
            return
        self._words += piece.words.split(" ")
        self._labels += piece.labels.split(" ")
        if piece.pauses is not None and self.pauses:
            known = [] if self._pauses is None else [self._pauses]
            self._pauses = np.concatenate([*known, piece.pauses])

    def _take(self, size: int) -> Iterator[Utterance]:
        """Utterances of `size` words, of the words that wait; at least one word goes on waiting, or none is left."""
        words, labels, pauses, at = self._words, self._labels, self._pauses, 0
        while len(words) - at > size or (at == 0 and 0 < len(words) == size):
            key = utterance_id(self._stream, self._number)
            if self.independent:
                self._stream = key = f"{self.prefix}{self._number:08d}"
            part = None if pauses is None else pauses[at:at + size]
            yield Utterance(key, self._stream, words[at:at + size], labels[at:at + size], part)
            at += size
            self._number += not self._ended
        del words[:at], labels[:at]
        self._pauses = None if pauses is None or not words else pauses[at:]
