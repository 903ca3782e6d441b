"""Cuts passages into utterances, and names streams and utterances."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from punc.base.errors import InputError
from punc.data.datadir import Utterance
from punc.text.abbreviations import Abbreviations, count_dot
from punc.text.passages import OpenDot, Passage

CHANGES = "changes of speaker"  # a count of `punc prepare`
MOST = 99_999_999  # the highest number of a stream or utterance


def padded(number: int) -> str:
    """A number in names, with zeros so that C order is that of numbers. Raises InputError if it has too many digits."""
    if number > MOST:
        raise InputError(f"more than {MOST:,} texts or utterances to number", "prepare several data directories")
    return f"{number:08d}"


def utterance_id(stream: str, number: int) -> str:
    """`STREAM-NUMBER`, padded with zeros so that C order is the order of the text."""
    return f"{stream}-{padded(number)}"


def stream_name(name: str) -> str:
    """A name as an id: characters that Kaldi's tools may not read become `_`."""
    return "".join(c if c.isalnum() or c in "-._" else "_" for c in name)


def file_name(path: str | os.PathLike[str]) -> str:
    """The name of a file's stream: the file's name without its ending."""
    return stream_name(Path(path).stem)


def sorted_streams(names: Iterable[str]) -> list[str]:
    """Names of streams in C order.

    Raises InputError if two are the same, or if it is not the order of their utterances: the utterances of `talk` come
    after those of `talk-0` and `talk&`, but `talk` comes before these.
    """
    names = sorted(names, key=str.encode)
    for one, other in pairwise(names):
        if one == other:
            raise InputError(f"two streams would be called '{one}'", "rename a file, or a document")
        if other.startswith(one) and other[len(one):] < "-1":
            raise InputError(f"'{one}' and '{other}' cannot be sorted both as streams and by their utterances",
                             "rename one of them")
    return names


class Cutter:
    """Cuts passages into utterances of `size` words, with ids by `utterance_id`; 0: where a passage says so.

    attach         (label of a word, label found after the word) → the word's new label
    prefix         what stream names begin with
    independent    each utterance is a stream of its own, with the same name
    pauses, turns  whether the utterances keep the pauses of the passages, and have flags where the speaker changes
    numbered       a stream's name begins with the stream's number; else it is the passage's name
    abbreviations  decide on the dot of a passage's last word, when the next passage is there

    `dropped` counts the marks that have no word before them, `dots` the dots that were decided on.
    """

    def __init__(self, size: int, attach: Callable[[str, str], str], prefix: str = "", independent: bool = False,
                 pauses: bool = True, numbered: bool = True, abbreviations: Abbreviations | None = None,
                 turns: bool = False):
        self.size, self.attach, self.prefix, self.independent = size, attach, prefix, independent
        self.pauses, self.numbered, self._abbreviations = pauses, numbered, abbreviations
        self.dropped = 0
        self.dots: Counter[str] = Counter()
        self._dot: OpenDot | None = None
        self._stream, self._streams, self._number, self._ended = "", 0, 1, False
        self._words: list[str] = []
        self._labels: list[str] = []
        self._pauses: np.ndarray | None = None
        self._turns = turns
        self._speakers: list[str | None] = []  # of the words that wait; None: not known
        self._speaker: str | None = None  # who speaks
        self._next: str | None = None  # who says the word after those that wait

    def cut(self, passages: Iterable[Passage]) -> Iterator[Utterance]:
        """The utterances of passages. The last word waits for the next passage, which may begin with its mark."""
        for passage in passages:
            if passage.stream is not None:
                self._close_dot(True)
                yield from self._take(len(self._words))
                self._number += self._ended
                self._begin(passage.stream)
            if self._dot:
                self._close_dot(self._ends_before(passage))
            self._lead(passage)
            if self._ended:
                yield from self._take(len(self._words))
                self._number += 1
            self._append(passage)
            self._dot = passage.dot or self._dot
            self._ended = passage.end
            if len(self._words) > self.size > 0:
                yield from self._take(self.size)
        self._close_dot(True)
        yield from self._take(len(self._words))

    def _ends_before(self, passage: Passage) -> bool | None:
        """Whether a sentence ends at the open dot; None if a later passage may say it."""
        ends = None
        if self._dot and self._abbreviations and not (self.independent and self._ended):
            ends = self._abbreviations.ends(self._dot.dot, passage.first, line_end=self._ended)
        return True if ends is None and (self._ended or passage.words) else ends

    def _close_dot(self, ends: bool | None) -> None:
        """Label the last word, if its dot is open and it is known whether a sentence ends there."""
        if self._dot and ends is not None:
            if not ends:
                self._labels[-1] = self._dot.label
            count_dot(self._dot.dot, ends, self.dots)
            self._dot = None

    def _begin(self, name: str) -> None:
        self._streams += 1
        name = stream_name(name)
        number = padded(self._streams) + ("_" if name else "") if self.numbered else ""
        self._stream = self.prefix + number + name
        self._ended, self._speaker = False, None
        if not self.independent:
            self._number = 1

    def _lead(self, passage: Passage) -> None:
        """Give the last word the mark and the pause with which the next passage begins."""
        known = bool(self._words) and not (self.independent and self._ended)
        if passage.lead and known:
            self._labels[-1] = self.attach(self._labels[-1], passage.lead)
        self.dropped += bool(passage.lead) and not known
        if passage.lead_pause is not None and known and self._pauses is not None:
            self._pauses[-1] = passage.lead_pause
        self._speaker = self._speaker if passage.speaker is None else passage.speaker
        self._next = self._speaker if passage.words else self._next

    def _append(self, passage: Passage) -> None:
        if not passage.words:
            return
        self._words += passage.words.split(" ")
        self._labels += passage.labels.split(" ")
        self._speakers += [self._speaker] * (passage.words.count(" ") + 1)
        if passage.pauses is not None and self.pauses:
            known = [] if self._pauses is None else [self._pauses]
            self._pauses = np.concatenate([*known, passage.pauses])

    def _take(self, size: int) -> Iterator[Utterance]:
        """Cut the waiting words into utterances of `size` words. 1 to `size` words go on waiting; of just `size`, none.
        """
        words, labels, pauses, at = self._words, self._labels, self._pauses, 0
        while len(words) - at > size or (at == 0 and 0 < len(words) == size):
            key = utterance_id(self._stream, self._number)
            if self.independent:
                self._stream = key = f"{self.prefix}{padded(self._number)}"
            part = None if pauses is None else pauses[at:at + size]
            turns = self._changes(at, min(at + size, len(words))) if self._turns else None
            yield Utterance(key, self._stream, words[at:at + size], labels[at:at + size], part, turns)
            at += size
            self._number += not self._ended
        del words[:at], labels[:at], self._speakers[:at]
        self._pauses = None if pauses is None or not words else pauses[at:]

    def _changes(self, begin: int, end: int) -> np.ndarray:
        """Whether another speaker says the next word, of the words that wait from `begin` to `end`, bool (words,)."""
        speakers = [*self._speakers[begin:end + 1], self._next][:end - begin + 1]
        return np.array([one is not None and one != other for one, other in pairwise(speakers)], bool)
