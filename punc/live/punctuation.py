"""Words that come one by one, and go out with their labels as soon as the model allows.

A label that is out is never taken back. When the speaker falls silent, a stream can decide the words that wait for
others. A model that reads whole streams gives all labels at the stream's end.
"""

import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import NamedTuple, Protocol

import numpy as np

from punc.data.block_reader import at_slots
from punc.decoding.dispatch import AnyModel, decode
from punc.decoding.part_labels import LivePartLabels, first_parts, joins_parts, of_words
from punc.live.stepwise import SlotStream
from punc.text.casing import Casing
from punc.tokens.store_set import StoreSet
from punc.tokens.tokenizer import encode_streams
from punc.tokens.vocabulary import END

WORDS = 4  # ways to go on after a silence, besides the end; chosen on calls of dev (docs/live.md)


class Marked(NamedTuple):
    """A word whose label is decided.

    word     the word as it came in
    text     the word as it is written with its label
    label    the name of its label
    logits   float32 (L,), of all labels; (0,) if posteriors were not asked for, or no model reads the word
    number   the number of the label that the model chose; the word may also have the mark of an unknown one after it
    """

    word: str
    text: str
    label: str
    logits: np.ndarray
    number: int

    @property
    def probability(self) -> float:
        """The posterior of the label that the model chose, before any scale; NaN without logits."""
        if not len(self.logits):
            return math.nan
        return float(1 / np.exp(self.logits - self.logits[self.number]).sum())


class Stream(Protocol):
    """A stream of words, which `casing` writes."""

    casing: Casing

    def reads(self, word: str) -> bool:
        """Whether a model reads a word; silence is measured between the words that it reads."""

    def push(self, word: str, pause: float = np.nan) -> list[Marked]:
        """The next word, and the silence before it in seconds (NaN unknown) → the words that are decided by it."""

    def decide(self, pause: float = np.nan) -> list[Marked]:
        """All words that wait for others; the stream goes on. Of a model that reads whole streams, none.

        pause   how long the speaker has been silent, in seconds; NaN: not known

        What comes next is not known. A model of words that reads pauses takes the mean over an end and some frequent
        words; others, and without a pause, read an end.
        """

    def close(self) -> list[Marked]:
        """The end of the stream → all other words. Nothing can be pushed after it."""

    def copy(self) -> "Stream":
        """Another stream in the same state, with the same weights; what is pushed to one is not in the other."""


def open_stream(model: AnyModel, casing: Casing, scale: np.ndarray | None = None, posteriors: bool = True) -> Stream:
    """A new stream. Streams of one model do not know of each other.

    casing       writes the words; one for each stream
    scale        (L,) factors of the posteriors before labels are chosen; None: all 1
    posteriors   false: `Marked.probability` is not needed, which saves a model of whole streams time
    """
    casing.start_stream()
    if model.lookahead is None:
        return WholeStream(model, casing, scale, posteriors)
    return LiveStream(model, casing, scale)


def mark(stream: Stream, words: Iterable[str]) -> Iterator[Marked]:
    """The words of a stream whose pauses are not known, as soon as they are decided."""
    for word in words:
        yield from stream.push(word)
    yield from stream.close()


class LiveStream:
    """A stream for a model that reads left to right; arguments as those of `open_stream`."""

    def __init__(self, model: AnyModel, casing: Casing, scale: np.ndarray | None = None):
        self._slots, self._encode = SlotStream(model), model.tokenizer.input_encoder()
        self._labels, self.casing, self._write = list(model.labels), casing, casing.write_word
        self._scale = None if scale is None else np.log(scale)
        self._parts = LivePartLabels(model)
        self._waiting: deque[str | None] = deque()  # the word of each token that waits for its slot
        self._out = 0  # how many of these words, the first ones, were decided early
        # A tokenizer that ends a stream by END puts it in place of the last token, which waits for the next word.
        self._holds = model.tokenizer.ends_with_end
        self._ways = ways(model) if model.reads_pauses and model.tokenizer.token_type == "word" else []
        self._held: tuple[int, float, str] | None = None

    def reads(self, word: str) -> bool:
        """As `Stream.reads`."""
        return True

    def push(self, word: str, pause: float = np.nan) -> list[Marked]:
        """As `Stream.push`."""
        ids = self._encode(word)
        if len(ids) == 1 and not self._holds:  # words as tokens: most models, and the fastest
            self._waiting.append(word)
            logits = self._slots.push(ids[0], pause)
            return [] if logits is None else self._decide(logits)
        decided = self._push(*self._held) if self._held else []
        *ids, last = ids
        for token in ids:
            decided += self._push(token, pause, None)
            pause = np.nan
        if self._holds:
            self._held = last, pause, word
            return decided
        return decided + self._push(last, pause, word)

    def decide(self, pause: float = np.nan) -> list[Marked]:
        """As `Stream.decide`. A copy of the stream reads on, and this one remembers what is out."""
        words = len(self._waiting) - self._waiting.count(None) + (self._held is not None)
        if words == self._out:
            return []
        ended = self.copy()
        ended._write = self._write  # which word begins a sentence depends on what is out
        self._out = words
        if not self._ways or pause != pause:
            return ended._end(pause)
        return [marked for logits in ended._slots.expect(pause, self._ways) for marked in ended._decide(logits)]

    def close(self) -> list[Marked]:
        """As `Stream.close`."""
        return self._end(np.nan)

    def copy(self) -> "LiveStream":
        """As `Stream.copy`."""
        other = copy(self)
        other._slots, other._waiting, other.casing = self._slots.copy(), self._waiting.copy(), copy(self.casing)
        other._parts, other._write = copy(self._parts), other.casing.write_word
        return other

    def _end(self, pause: float) -> list[Marked]:
        decided = []
        if self._held:
            decided += self._push(END, *self._held[1:])
            self._held = None
        return decided + [marked for logits in self._slots.close(pause) for marked in self._decide(logits)]

    def _push(self, token: int, pause: float, word: str | None) -> list[Marked]:
        self._waiting.append(word)
        logits = self._slots.push(token, pause)
        return [] if logits is None else self._decide(logits)

    def _decide(self, logits: np.ndarray) -> list[Marked]:
        word = self._waiting.popleft()
        logits = self._parts.push(logits, word is not None)
        if word is None:
            return []
        if self._out:
            self._out -= 1
            return []
        number = int((logits if self._scale is None else logits + self._scale).argmax())
        label = self._labels[number]
        return [Marked(word, self._write(word, label), label.name, logits, number)]


def ways(model: AnyModel) -> list[list[int]]:
    """What may follow a silence: an end, or words. The most frequent ones, the first of a vocabulary, stand for all."""
    ahead, count = model.lookahead or 0, len(model.tokenizer.vocabulary)
    words = [[(END + 1 + way + WORDS * step) % count for step in range(ahead)] for way in range(WORDS)]
    return [[END] * ahead, *words]


class WholeStream:
    """A stream for a model that reads whole streams; arguments as those of `open_stream`."""

    def __init__(self, model: AnyModel, casing: Casing, scale: np.ndarray | None = None, posteriors: bool = True):
        self._model, self.casing, self._scale, self._posteriors = model, casing, scale, posteriors
        self._words: list[str] = []
        self._pauses: list[float] = []

    def reads(self, word: str) -> bool:
        """As `Stream.reads`."""
        return True

    def push(self, word: str, pause: float = np.nan) -> list[Marked]:
        """As `Stream.push`: none is decided yet."""
        self._words.append(word)
        self._pauses.append(pause)
        return []

    def decide(self, pause: float = np.nan) -> list[Marked]:
        """As `Stream.decide`."""
        return []

    def copy(self) -> "WholeStream":
        """As `Stream.copy`."""
        other = copy(self)
        other._words, other._pauses, other.casing = self._words.copy(), self._pauses.copy(), copy(self.casing)
        return other

    def close(self) -> list[Marked]:
        """As `Stream.close`."""
        words, labels = self._words, list(self._model.labels)
        self._words = []
        if not words:
            return []
        after = np.append(self._pauses[1:], np.nan).astype(np.float32)
        numbers, rows = decode_words(self._model, words, None if np.isnan(after).all() else after, self._scale,
                                     self._posteriors)
        if not self._posteriors:
            rows = np.zeros((len(words), 0), np.float32)
        texts = self.casing.write(words, [labels[number].name for number in numbers.tolist()], [0])
        return [Marked(word, text, labels[number].name, row, number)
                for word, text, row, number in zip(words, texts, rows, numbers.tolist())]


def decode_words(model: AnyModel, words: Sequence[str], pauses: np.ndarray | None,
                 scale: np.ndarray | None = None, posteriors: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """The labels of a stream of words, int64 (N,), and, with `posteriors`, log-posteriors, float32 (N, L); else (0, L).

    pauses   float32 (N,), seconds after each word, NaN unknown; None if there are none
    """
    nothing = np.zeros((0, len(model.labels)), np.float32)
    if not words:
        return np.zeros(0, np.int64), nothing
    (ids, slots, _), offsets = encode_streams(model.tokenizer, words, [0, len(words)])
    data = StoreSet(ids, None, at_slots(pauses, slots, len(ids), np.nan), [""], offsets)
    joins = joins_parts(model)  # whose labels are products of posteriors
    labels, rows = decode(model, data, scale, posteriors=posteriors or joins)
    firsts = first_parts(slots, np.array([0, len(ids)]), np.ones(1, bool)) if joins else slots
    numbers, rows = of_words(model, labels, rows, slots, firsts, scale)
    return numbers, nothing if rows is None or not posteriors else rows
