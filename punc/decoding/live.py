"""Words that come one by one, and go out with their labels as soon as the model allows.

A label that is out is never taken back. A model that reads whole streams gives all labels at the stream's end.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from punc.data.block_reader import at_slots
from punc.decoding.dispatch import AnyModel, decode
from punc.decoding.part_labels import LivePartLabels, first_parts, of_words
from punc.decoding.stepwise import SlotStream
from punc.text.casing import Casing
from punc.tokens.store_set import StoreSet
from punc.tokens.tokenizer import encode_streams
from punc.tokens.vocabulary import END


class Marked(NamedTuple):
    """A word whose label is decided.

    word     the word as it came in
    text     the word as it is written with its label
    label    the name of its label
    logits   float32 (L,), of all labels
    number   the label's number
    """

    word: str
    text: str
    label: str
    logits: np.ndarray
    number: int

    @property
    def probability(self) -> float:
        """The posterior of the label, before any scale."""
        return float(1 / np.exp(self.logits - self.logits[self.number]).sum())


class Stream(Protocol):
    """A stream of words."""

    def push(self, word: str, pause: float = np.nan) -> list[Marked]:
        """The next word, and the silence before it in seconds (NaN unknown) → the words that are decided by it."""

    def close(self) -> list[Marked]:
        """The end of the stream → all other words. Nothing can be pushed after it."""


def open_stream(model: AnyModel, casing: Casing, scale: np.ndarray | None = None) -> Stream:
    """A new stream. Streams of one model do not know of each other.

    casing   writes the words; one for each stream
    scale    (L,) factors of the posteriors before labels are chosen; None: all 1
    """
    casing.start_stream()
    return (WholeStream if model.lookahead is None else LiveStream)(model, casing, scale)


def mark(stream: Stream, words: Iterable[str]) -> Iterator[Marked]:
    """The words of a stream whose pauses are not known, as soon as they are decided."""
    for word in words:
        yield from stream.push(word)
    yield from stream.close()


class LiveStream:
    """A stream for a model that reads left to right; arguments as those of `open_stream`."""

    def __init__(self, model: AnyModel, casing: Casing, scale: np.ndarray | None = None):
        self._slots, self._encode = SlotStream(model), model.tokenizer.input_encoder()
        self._labels, self._write = list(model.labels), casing.write_word
        self._scale = None if scale is None else np.log(scale)
        self._parts = LivePartLabels(model)
        self._waiting: deque[str | None] = deque()  # the word of each token that waits for its slot
        # A tokenizer that ends a stream by END puts it in place of the last token, which waits for the next word.
        self._holds = model.tokenizer.ends_with_end
        self._held: tuple[int, float, str] | None = None

    def push(self, word: str, pause: float = np.nan) -> list[Marked]:
        """As `Stream.push`."""
        decided = self._release()
        *ids, last = self._encode(word)
        for token in ids:
            decided += self._push(token, pause, None)
            pause = np.nan
        if self._holds:
            self._held = last, pause, word
            return decided
        return decided + self._push(last, pause, word)

    def close(self) -> list[Marked]:
        """As `Stream.close`."""
        decided = []
        if self._held:
            decided += self._push(END, *self._held[1:])
            self._held = None
        return decided + [marked for logits in self._slots.close() for marked in self._decide(logits)]

    def _release(self) -> list[Marked]:
        """Push the token that was held back."""
        return self._push(*self._held) if self._held else []

    def _push(self, token: int, pause: float, word: str | None) -> list[Marked]:
        self._waiting.append(word)
        logits = self._slots.push(token, pause)
        return [] if logits is None else self._decide(logits)

    def _decide(self, logits: np.ndarray) -> list[Marked]:
        word = self._waiting.popleft()
        logits = self._parts.push(logits, word is not None)
        if word is None:
            return []
        number = int((logits if self._scale is None else logits + self._scale).argmax())
        label = self._labels[number]
        return [Marked(word, self._write(word, label), label.name, logits, number)]


class WholeStream:
    """A stream for a model that reads whole streams; arguments as those of `open_stream`."""

    def __init__(self, model: AnyModel, casing: Casing, scale: np.ndarray | None = None):
        self._model, self._casing, self._scale = model, casing, scale
        self._words: list[str] = []
        self._pauses: list[float] = []

    def push(self, word: str, pause: float = np.nan) -> list[Marked]:
        """As `Stream.push`: none is decided yet."""
        self._words.append(word)
        self._pauses.append(pause)
        return []

    def close(self) -> list[Marked]:
        """As `Stream.close`."""
        words, labels = self._words, list(self._model.labels)
        self._words = []
        if not words:
            return []
        after = np.append(self._pauses[1:], np.nan).astype(np.float32)
        numbers, rows = decode_words(self._model, words, None if np.isnan(after).all() else after, self._scale)
        texts = self._casing.write(words, [labels[number].name for number in numbers.tolist()], [0])
        return [Marked(word, text, labels[number].name, row, number)
                for word, text, row, number in zip(words, texts, rows, numbers.tolist())]


def decode_words(model: AnyModel, words: Sequence[str], pauses: np.ndarray | None,
                 scale: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The labels of a stream of words, int64 (N,), and the log-posteriors, float32 (N, L).

    pauses   float32 (N,), seconds after each word, NaN unknown; None if there are none
    """
    if not words:
        return np.zeros(0, np.int64), np.zeros((0, len(model.labels)), np.float32)
    (ids, slots, _), offsets = encode_streams(model.tokenizer, words, [0, len(words)])
    data = StoreSet(ids, None, at_slots(pauses, slots, len(ids), np.nan), [""], offsets)
    labels, posteriors = decode(model, data, scale, posteriors=True)
    assert posteriors is not None, "they were asked for"
    firsts = first_parts(slots, np.array([0, len(ids)]), np.ones(1, bool))
    numbers, rows = of_words(model, labels, posteriors, slots, firsts, scale)
    assert rows is not None
    return numbers, rows
