"""Cuts passages into utterances. A passage is a stretch of labelled text that a format has read from a file.

The analysis of each distinct line or word is cached, so that most tokens cost one look-up.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError, StrPath
from punc.data.datadir import Utterance
from punc.text.abbreviations import REACH, Abbreviations, Dot, count_dot
from punc.text.prose import Parts

MEMORY = 150_000  # the maximum number of cached lines or words, about 45 MB
CHANGES = "changes of speaker"  # a count that `punc prepare` prints
MOST = 99_999_999  # the highest number of a stream or utterance


class Unreadable(Exception):
    """Raised for text that cannot be repaired. Arguments: what is wrong, what to do, and the faulty text."""


class OpenDot(NamedTuple):
    """An undecided dot after a passage's last word. If no sentence ends at the dot, the word gets the label `label`."""

    dot: Dot
    label: str


class Passage(NamedTuple):
    """Consecutive words of a stream.

    words, labels  separated by spaces; one label per word
    lead, lead_pause  label and pause that this passage gives to the last word of the previous passage; if there are
                      none, "" and None
    stream         the name, which may be empty, of the stream that begins with this passage; None: no stream begins
    dot            the undecided dot after the last word; until the decision, the word has the label of a sentence end
    """

    words: str
    labels: str
    pauses: np.ndarray | None = None  # float32 (words,), seconds; None if the format has none
    lead: str = ""
    lead_pause: float | None = None
    stream: str | None = None
    end: bool = False  # whether an utterance ends with this passage
    dot: OpenDot | None = None
    first: tuple[str, ...] = ()  # the first tokens, which may decide whether the previous passage's dot ends a sentence
    speaker: str | None = None  # the speaker from this passage on; None: unchanged or unknown


class Memo(dict[str, str]):
    """Caches the analysis of items (lines or tokens): maps an item to its words, or to "" if the item is special.

    An item is special if it has a lead or a repair, if it has no words, or if it is a token with a dot that is perhaps
    not a mark (see `Abbreviations.dot`).
    """

    def __init__(self, analyse: Callable[[str], Parts], abbreviations: Abbreviations | None = None):
        self.analyse, self.abbreviations = analyse, abbreviations
        self.labels: dict[str, str] = {}
        self.special: dict[str, Parts] = {}
        self.dots: dict[str, tuple[Dot, Parts]] = {}  # item → its dot, and its analysis without the dot

    def __missing__(self, item: str) -> str:
        parts = self.analyse(item)
        if self.abbreviations and (dot := self.abbreviations.dot(item)):
            without = self.analyse(dot.bare)
            # If equal, the dot makes no difference: the label set ignores it, or a stronger mark follows.
            if without != parts:
                self.dots[item] = dot, without
        if parts.lead or parts.repair or not parts.words or item in self.dots:
            self.special[item] = parts
            self[item] = self.labels[item] = ""
        else:
            self[item], self.labels[item] = parts.words, parts.labels
        return self[item]

    def read(self, items: Sequence[str], attach: Callable[[str, str], str], repairs: Counter[str]) -> Passage:
        """Return the passage that consists of `items`. `attach(label, lead)` adds the mark of the label `lead` to a
        word with the label `label`, and returns the word's new label."""
        words = list(map(self.__getitem__, items))
        lead = ""
        at = -1
        before = -1
        labels = list(map(self.labels.__getitem__, items))
        open_dot = None
        for _ in range(words.count("")):
            last, at = at, words.index("", at + 1)
            parts = self.special[items[at]]
            if at > last + 1:
                before = at - 1
            if items[at] in self.dots:
                label = labels[before] if before >= 0 else ""
                parts, open_dot = self._decide(items, at, label, repairs)
            if parts.repair:
                repairs[parts.repair] += 1
            if parts.lead and before >= 0:
                head, blank, label = labels[before].rpartition(" ")
                labels[before] = head + blank + attach(label, parts.lead)
            elif parts.lead:
                lead = attach(lead, parts.lead) if lead else parts.lead
            words[at], labels[at] = parts.words, parts.labels
            if parts.words:
                before = at
        if len(self) > MEMORY:  # the caches are emptied, so that memory does not grow with the corpus
            for table in (self, self.labels, self.special, self.dots):
                table.clear()
        first = tuple(items[:REACH]) if self.abbreviations else ()
        return Passage(" ".join(filter(None, words)), " ".join(filter(None, labels)), lead=lead, dot=open_dot,
                       first=first)

    def _decide(self, items: Sequence[str], at: int, label: str, counts: Counter[str]) -> tuple[Parts, OpenDot | None]:
        """Return the analysis of item `at`, which has a dot. Also return the dot if a later passage must decide
        whether a sentence ends there. `label`: the labels of the last item before it that has words, separated by
        spaces."""
        dot, without = self.dots[items[at]]
        behind = items[at + 1:at + 1 + REACH]
        ends = self.abbreviations.ends(dot, behind) if self.abbreviations else None
        # An ellipsis that is a separate token uses the label before it.
        label = (without.labels or label).rpartition(" ")[2]
        if ends is None and len(behind) < REACH and label:
            return self.special[items[at]], OpenDot(dot, label)
        count_dot(dot, ends is not False, counts)
        return without if ends is False else self.special[items[at]], None


def padded(number: int) -> str:
    """Pad a number with zeros, so that C-locale order is numeric order. Raises InputError if the number is too
    large."""
    if number > MOST:
        raise InputError(f"more than {MOST:,} texts or utterances to number", "prepare several data directories")
    return f"{number:08d}"


def utterance_id(stream: str, number: int) -> str:
    """Return `STREAM-NUMBER`, with the number padded with zeros so that C-locale order is the order of the text."""
    return f"{stream}-{padded(number)}"


def stream_name(name: str) -> str:
    """Convert a name to an id, with `_` instead of characters that Kaldi's tools may not accept."""
    return "".join(c if c.isalnum() or c in "-._" else "_" for c in name)


def file_name(path: StrPath) -> str:
    """Return the stream name for a file: the file's name without its extension."""
    return stream_name(Path(path).stem)


def sorted_streams(names: Iterable[str]) -> list[str]:
    """Return stream names in C-locale order. Raises InputError if two names are equal, or if the utterances would be
    sorted differently from their streams: `talk` comes before `talk-0`, but utterances of `talk` come after utterances
    of `talk-0`."""
    names = sorted(names, key=str.encode)
    for one, other in pairwise(names):
        if one == other:
            raise InputError(f"two streams would be called '{one}'", "rename one of the two files or documents")
        if other.startswith(one) and other[len(one):] < "-1":
            raise InputError(f"'{one}' and '{other}' cannot be sorted both as streams and by their utterances",
                             "rename one of them")
    return names


class Cutter:
    """Cuts passages into utterances of `size` words or, if `size` is 0, after passages that end an utterance.

    attach         (label of a word, label found after the word) → the word's new label
    independent    each utterance is a stream with the utterance's id
    pauses         whether utterances get the pauses of the passages
    turns          whether utterances get flags for changes of speaker
    numbered       whether the name of a stream begins with the stream's number
    abbreviations  once the next passage is known, decide whether the dot of a passage's last word is a mark
    """

    def __init__(self, size: int, attach: Callable[[str, str], str], prefix: str = "", independent: bool = False,
                 pauses: bool = True, numbered: bool = True, abbreviations: Abbreviations | None = None,
                 turns: bool = False):
        self.size, self.attach, self.prefix, self.independent = size, attach, prefix, independent
        self.pauses, self.numbered, self._abbreviations = pauses, numbered, abbreviations
        self.dropped = 0  # how many marks had no word before them
        self.dots: Counter[str] = Counter()  # how many undecided dots became marks, and how many did not
        self._dot: OpenDot | None = None
        self._stream, self._streams, self._number, self._ended = "", 0, 1, False
        self._words: list[str] = []
        self._labels: list[str] = []
        self._pauses: np.ndarray | None = None
        self._turns = turns
        self._speakers: list[str | None] = []  # the speaker of each word in `_words`; None: unknown
        self._speaker: str | None = None  # the current speaker
        self._next: str | None = None  # the speaker of the next word

    def cut(self, passages: Iterable[Passage]) -> Iterator[Utterance]:
        """Yield the utterances of passages. The last word of a passage waits, because its mark may be at the start of
        the next passage."""
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
        """Return whether a sentence ends at the undecided dot; None if a later passage must decide."""
        ends = None
        if self._dot and self._abbreviations and not (self.independent and self._ended):
            ends = self._abbreviations.ends(self._dot.dot, passage.first, line_end=self._ended)
        return True if ends is None and (self._ended or passage.words) else ends

    def _close_dot(self, ends: bool | None) -> None:
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
        """Yield the waiting words as utterances of `size` words, but keep the last 1 to `size` words waiting. If
        exactly `size` words are waiting, yield them all."""
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
        speakers = [*self._speakers[begin:end + 1], self._next][:end - begin + 1]
        return np.array([one is not None and one != other for one, other in pairwise(speakers)], bool)
