"""Labels the words of a stream that is still arriving, as soon as the model allows.

A label that has been returned never changes. When the speaker falls silent, a stream can decide its waiting words. A
model that reads whole streams returns all labels at the end of the stream. The module `words` turns labels into text.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from itertools import islice, repeat
from typing import Any, NamedTuple

import numpy as np

from punc.base.runs import next_of
from punc.data.block_reader import at_slots
from punc.data.questions import paired
from punc.data.transitions import best_sequences
from punc.decoding.decode import AnyModel, PartLabels, decode, first_parts, joins_parts, of_words, scaled
from punc.tokens.store_set import StoreSet
from punc.tokens.tokenizer import encode_streams
from punc.tokens.vocabulary import END

WORDS = 4  # how many sequences of frequent words `ways` returns; chosen on development calls (docs/live.md)


class SlotStream:
    """A stream whose tokens arrive one by one. Raises ValueError if the model reads whole streams."""

    def __init__(self, model: AnyModel):
        if model.lookahead is None:
            raise ValueError("this model reads whole streams")
        self._ahead, self._slot = model.lookahead, -model.lookahead
        self._model: AnyModel = model
        self._state: Any = model.initial_state(1)
        # Pauses of slots that are not decided. The newest pause belongs to the slot one token back; the slot that is
        # decided next is `lookahead` tokens back.
        self._pauses = deque([np.nan] * max(self._ahead, 1), maxlen=max(self._ahead, 1))

    def push(self, token: int, pause: float) -> np.ndarray | None:
        """Take the next token and the pause *before* it in seconds (NaN: unknown). Return the logits (L,) of the slot
        `lookahead` tokens back, which is now decided, or None if there is no such slot yet."""
        self._pauses.append(pause)
        decided = np.array([self._pauses[0] if self._ahead else np.nan], np.float32)
        logits, self._state = self._model.step(np.array([token]), decided, self._state)
        self._slot += 1
        return logits[0] if self._slot > 0 else None

    def close(self, pause: float = np.nan, following: Iterable[int] = repeat(END)) -> Iterator[np.ndarray]:
        """End the stream, `pause` seconds after the last token. Yield the logits of all remaining slots.

        following   the tokens that the model reads after the last token; default: only END
        """
        for token in islice(following, self._ahead):
            logits = self.push(token, pause)
            pause = np.nan
            if logits is not None:
                yield logits

    def expect(self, pause: float, ways: Iterable[Iterable[int]]) -> Iterator[np.ndarray]:
        """Yield, for each waiting slot, the logarithms (L,) of posteriors averaged over possible continuations.

        ways    the continuations: token sequences that may follow the pause, each with at least `lookahead` tokens
        """
        for logits in zip(*(self.copy().close(pause, following) for following in ways)):
            powers = np.exp(np.array(logits) - np.max(logits, axis=1, keepdims=True))
            yield np.log((powers / powers.sum(1, keepdims=True)).mean(0))

    def copy(self) -> "SlotStream":
        """Return another stream in the same state. Both can share `_state`: `step` returns a new state and leaves the
        old one unchanged."""
        other = copy(self)
        other._pauses = self._pauses.copy()
        return other


class Labelled(NamedTuple):
    """A word whose label is decided."""

    number: int  # the number of the word's label
    logits: np.ndarray  # float32 (L,), the logits of all labels; (0,) if no posteriors were requested


class LiveStream:
    """A stream of words for a model that reads left to right. `scale` is as in `decode`."""

    def __init__(self, model: AnyModel, scale: np.ndarray | None = None):
        self._scale = None if scale is None else np.log(scale)
        self._transitions = model.transitions
        self._before = -1  # the label of the previous word; -1: no previous word
        self._no_end = no_end(model)
        self._slots = SlotStream(model)
        self._encode = model.tokenizer.word_encoder()
        self._parts = PartLabels(model.labels) if joins_parts(model) else None
        self._first: np.ndarray | None = None  # the logits of a word's first part, until its last part is decided
        self._waiting: deque[bool] = deque()  # for each token whose slot is not decided: whether it ends a word
        self._out = 0  # how many of the waiting words `decide` has already returned
        # Some tokenizers replace the last token of a stream with END, so the newest token is held until the next word.
        self._holds = model.tokenizer.ends_with_end
        self._ways = ways(model) if model.reads_pauses and model.tokenizer.token_type == "word" else []
        self._held: tuple[int, float] | None = None

    def push(self, word: str, pause: float = np.nan) -> list[Labelled]:
        """Take the next word and the pause before it in seconds (NaN: unknown). Return newly decided words."""
        *ids, last = self._encode(word)
        decided = self._push(*self._held, True) if self._held else []
        for token in ids:
            decided += self._push(token, pause, False)
            pause = np.nan
        if self._holds:
            self._held = last, pause
            return decided
        return decided + self._push(last, pause, True)

    def decide(self, pause: float = np.nan) -> list[Labelled]:
        """Decide and return all waiting words after `pause` seconds of silence (NaN: unknown). The stream continues.

        The model would read the next words too, but they have not arrived. If the pause is known and the model is a
        word model that reads pauses, posteriors are averaged over possible continuations: the end of the stream, and
        some frequent words. Otherwise, the words are decided as if the stream ended. A copy of the stream reads the
        continuations; the stream itself only remembers how many words were returned.
        """
        words = sum(self._waiting) + (self._held is not None)
        if words == self._out:
            return []
        ended = self.copy()
        self._out = words
        if not self._ways or pause != pause:
            return ended._end(pause)
        return ended._decided(ended._slots.expect(pause, self._ways))

    def close(self) -> list[Labelled]:
        """End the stream. Return all remaining words. Nothing can be pushed afterwards."""
        return self._end(np.nan, self._no_end)

    def copy(self) -> "LiveStream":
        """Return another stream in the same state. The two streams do not affect each other."""
        other = copy(self)
        other._slots, other._waiting = self._slots.copy(), self._waiting.copy()
        return other

    def _end(self, pause: float, barred: np.ndarray | None = None) -> list[Labelled]:
        """Decide and return all waiting words. `barred` (L,) is added to the log-posteriors of the last word."""
        decided = self._push(END, self._held[1], True) if self._held else []
        self._held = None
        return decided + self._decided(self._slots.close(pause), barred)

    def _push(self, token: int, pause: float, ends_word: bool) -> list[Labelled]:
        self._waiting.append(ends_word)
        logits = self._slots.push(token, pause)
        return [] if logits is None else self._decided([logits])

    def _decided(self, slots: Iterable[np.ndarray], barred: np.ndarray | None = None) -> list[Labelled]:
        found = []
        for logits in slots:
            if not self._waiting.popleft():
                self._first = logits if self._first is None else self._first
                continue
            if self._parts and self._first is not None:
                logits = self._parts.log_probs(self._first[None], logits[None])[0]
            self._first = None
            last = barred is not None and not self._waiting
            self._before = self._choice(logits + barred if last else logits)
            if self._out:
                self._out -= 1
            else:
                found.append(Labelled(self._before, logits))
        return found

    def _choice(self, logits: np.ndarray) -> int:
        if self._scale is not None:
            logits = logits + self._scale
        if self._transitions:
            follow, begin = self._transitions
            logits = logits + (begin if self._before < 0 else follow[self._before])
        return int(logits.argmax())


def no_end(model: AnyModel) -> np.ndarray | None:
    """Return −∞ for each label that cannot end a text, and 0 for the others, float64 (L,). Return None if the model has
    no transitions or no labels that end a sentence."""
    ends = model.labels.sentence_ends
    if not model.transitions or not ends:
        return None
    return np.array([0.0 if name in ends else -np.inf for name in model.labels.names])


def ways(model: AnyModel) -> list[list[int]]:
    """Return possible continuations after a silence: the end of the stream, and WORDS sequences of frequent words."""
    ahead, count = model.lookahead or 0, len(model.tokenizer.vocabulary)
    words = [[(END + 1 + way + WORDS * step) % count for step in range(ahead)] for way in range(WORDS)]
    return [[END] * ahead, *words]


class WholeStream:
    """Like `LiveStream`, but for a model that reads whole streams. `posteriors`: whether `close` returns logits."""

    def __init__(self, model: AnyModel, scale: np.ndarray | None = None, posteriors: bool = True):
        self._model, self._scale, self._posteriors = model, scale, posteriors
        self._words: list[str] = []
        self._pauses: list[float] = []

    def push(self, word: str, pause: float = np.nan) -> list[Labelled]:
        self._words.append(word)
        self._pauses.append(pause)
        return []

    def decide(self, pause: float = np.nan) -> list[Labelled]:
        return []

    def copy(self) -> "WholeStream":
        other = copy(self)
        other._words, other._pauses = self._words.copy(), self._pauses.copy()
        return other

    def close(self) -> list[Labelled]:
        words, self._words = self._words, []
        after = next_of(np.array(self._pauses), np.nan).astype(np.float32)
        numbers, rows = decode_words(self._model, words, None if np.isnan(after).all() else after, self._scale,
                                     self._posteriors)
        if not self._posteriors:
            rows = np.zeros((len(words), 0), np.float32)
        return list(map(Labelled, numbers.tolist(), rows))


def decode_words(model: AnyModel, words: Sequence[str], pauses: np.ndarray | None,
                 scale: np.ndarray | None = None, posteriors: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of the words of a stream, int64 (N,), and their log-posteriors, float32 (N, L).

    pauses      float32 (N,), seconds of silence after each word; NaN: unknown; None: all are unknown
    posteriors  whether to return log-posteriors; if false, their array is (0, L)
    """
    nothing = np.zeros((0, len(model.labels)), np.float32)
    if not words:
        return np.zeros(0, np.int64), nothing
    (ids, slots, _), offsets = encode_streams(model.tokenizer, words, [0, len(words)])
    data = StoreSet(ids, None, at_slots(pauses, slots, len(ids), np.nan), [""], offsets)
    joins = joins_parts(model)  # whether the labels of a word's parts are joined, which needs posteriors
    labels, rows = decode(model, data, scale, posteriors=bool(posteriors or joins or model.transitions))
    firsts = first_parts(slots, np.array([0, len(ids)]), np.ones(1, bool)) if joins else slots
    numbers, rows = of_words(model, labels, rows, slots, firsts, scale)
    if model.transitions and rows is not None:
        weighted = scaled(rows, scale).astype(float)
        barred = no_end(model)
        if barred is not None:
            weighted[-1] += barred
        bounds = np.array([0, len(rows)])
        numbers = best_sequences(weighted, bounds, model.transitions)
        numbers = paired(weighted, numbers, bounds, np.ones(1, bool), model.labels)
    return numbers, nothing if rows is None or not posteriors else rows
