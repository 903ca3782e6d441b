"""Punctuates streams of words from recognisers. Handles marks, tags and numbers in the input as `text.marked_words`
does for files.

If the recogniser writes `"hello,"`, the model reads only `hello`. The model does not read tags such as `[Music]`, which
are returned unchanged. Two kinds of words wait for later words: a word before `<unk>`, because it gets the mark that
the model puts after `<unk>`, and a word that may begin a tag of several words, such as `[soft music]`.
"""

import math
from collections import deque
from collections.abc import Iterable
from copy import copy
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.data.labels import Label, LabelSet
from punc.decoding.decode import AnyModel
from punc.live.input import BLANKS
from punc.live.stream import Labelled, LiveStream, WholeStream
from punc.text import word_parts
from punc.text.casing import Casing
from punc.text.marked_words import MarkedWords
from punc.text.word_parts import MARK, MARKS, NUMBER, TAG, URL, WORD, Token, TokenReader, is_plain

CACHED = 1 << 13  # the maximum number of cached words; with a larger cache, the memory of a stream would grow for hours
MOST_WAITING = 256  # words; if more words wait and the model does not read the newest, all of them are decided
MOST_UNKNOWN = 12  # words; a word also gets the marks of unknown words that follow it within this distance
NEVER, INSIDE, ALWAYS = range(3)  # when a word keeps its capitals: never, inside a sentence, or always
NO_LOGITS = np.zeros(0, np.float32)


class Marked(NamedTuple):
    """A word with its decided label."""

    word: str  # as received
    text: str  # as written in the output
    label: str  # the name of the label, whose mark may come from an unknown word after this word
    logits: np.ndarray  # float32 (L,), of all labels; (0,) if posteriors are not wanted or the model skips the word
    number: int  # the number of the label that the model chose for this word

    @property
    def probability(self) -> float:
        """The posterior of the label that the model chose, before any scale is applied; NaN without logits."""
        if not len(self.logits):
            return math.nan
        return float(1 / np.exp(self.logits - self.logits[self.number]).sum())


class InputWord(NamedTuple):
    """A parsed word of the input."""

    text: str
    token: Token
    keeps: int  # when the word keeps its capitals: NEVER, INSIDE a sentence or ALWAYS
    lower: bool = False  # whether the word contains lower-case letters


class LiveWriter:
    """Parses and writes the words of all streams of a model. `casing` capitalises words and sentences."""

    def __init__(self, model: AnyModel, casing: Casing):
        self.labels: LabelSet = model.labels
        self.all_labels, self.sentences = list(self.labels), casing.sentences
        self.ends = [label.name in self.labels.sentence_ends for label in self.labels]
        self.words = MarkedWords(self.labels, casing, sentences=casing.sentences)
        self.reader = TokenReader.of(model.tokenizer.vocabulary.tokens)
        self.read = lru_cache(CACHED)(self._read)

    def _read(self, text: str) -> InputWord:
        token = self.reader.token(text)
        keeps = INSIDE if token.first_capital else NEVER
        if token.kind in (NUMBER, URL) or token.inner_capital or not (self.labels.cased or is_plain(text)):
            keeps = ALWAYS
        return InputWord(text, token, keeps, token.kind == WORD and token.has_lower)


class WordStream:
    """A stream of words, numbers, tags and marks. `labels` is the stream that labels the words that the model reads."""

    def __init__(self, labels: LiveStream | WholeStream, writer: LiveWriter):
        self._labels, self._writer = labels, writer
        self._waiting: deque[InputWord] = deque()
        self._decided: deque[Labelled] = deque()  # labels of the first waiting words that the model reads
        self._begun: list[tuple[str, float]] = []  # the words from an opening bracket on, as long as it is not closed
        self._closed = False
        self._starts = True  # whether the next word begins a sentence
        self._inside = False  # whether the marks of the input show that the next word is inside a sentence
        # Whether the input's capitals count: if the labels have capitals, only from the first lower-case letter on.
        self._lower = not writer.labels.cased

    def reads(self, word: str) -> bool:
        """Return whether the model reads a word. Pauses are measured between words that the model reads."""
        return self._writer.read(word).token.words != ()

    def push(self, word: str, pause: float = math.nan) -> list[Marked]:
        """Take the next word and the pause before it in seconds (NaN: unknown). Return newly decided words. Raises
        InputError if the stream is closed, or if the word is empty or begins or ends with a space."""
        if self._closed:
            raise InputError("the stream is closed", "open another one")
        if not word or word.strip(BLANKS) != word:
            raise InputError(f"word {word!r} is empty, or begins or ends with a space", "give one word at a time")
        opening = self._begun[0][0][0] if self._begun else word[:1]
        found = self._push_begun() if self._begun and opening in word else []
        if not (self._begun or (word_parts.opens(word) and opening not in word_parts.MUSIC)):
            return found + self._push(self._writer.read(word), pause)
        self._begun.append((word, pause))
        if word_parts.closes(opening, [text for text, _ in self._begun]):
            tags, self._begun = self._begun, []
            for text, _ in tags:
                found += self._push(InputWord(text, Token(TAG, "", text, "", "", "", (), False), NEVER), math.nan)
        ended = len(self._begun) > 1 and word.rstrip(MARKS).endswith(word_parts.CLOSING[opening])
        return found + self._push_begun() if ended or len(self._begun) == word_parts.MOST_TAGGED else found

    def decide(self, pause: float = math.nan) -> list[Marked]:
        """Decide and return all waiting words, like `LiveStream.decide`. The stream continues."""
        return self._push_begun() + self._new(self._labels.decide(pause), ended=True)

    def close(self) -> list[Marked]:
        """End the stream. Return all remaining words; none if it has already been closed."""
        if self._closed:
            return []
        found = self._push_begun()
        self._closed = True
        return found + self._new(self._labels.close(), ended=True)

    def copy(self) -> "WordStream":
        """Return another stream in the same state. The two streams do not affect each other."""
        other = copy(self)
        other._labels = self._labels.copy()
        other._waiting, other._decided = self._waiting.copy(), self._decided.copy()
        other._begun = self._begun.copy()
        return other

    def _push_begun(self) -> list[Marked]:
        """Push the words from an unclosed bracket on as ordinary words, because they are not a tag."""
        begun, self._begun = self._begun, []
        return [marked for text, pause in begun for marked in self._push(self._writer.read(text), pause)]

    def _push(self, read: InputWord, pause: float) -> list[Marked]:
        self._lower = self._lower or read.lower
        self._waiting.append(read)
        for part in read.token.words:
            self._decided += self._labels.push(part, pause)
            pause = 0.0 if pause == pause else math.nan  # no pause between the parts of a word
        found = self._new([])
        if len(self._waiting) > MOST_WAITING and not read.token.words:
            found += self._new(self._labels.decide(), ended=True)
        return found

    def _new(self, decided: list[Labelled], ended: bool = False) -> list[Marked]:
        self._decided += decided
        found = []
        while self._waiting:
            parts = len(self._waiting[0].token.words)
            if len(self._decided) < parts:
                break
            moved = self._marks_after(parts, ended)
            if moved is None:
                break
            labelled = [self._decided.popleft() for _ in range(parts)]
            found.append(self._write(self._waiting.popleft(), labelled[-1] if labelled else None, moved))
        return found

    def _marks_after(self, parts: int, ended: bool) -> list[Label] | None:
        """Return the labels of the unknown words right after the first waiting word, or None if one of these labels is
        not decided yet."""
        found: list[Label] = []
        if not parts or self._waiting[0].token.kind == TAG:
            return found
        for other in islice(self._waiting, 1, MOST_UNKNOWN + 1):
            if not other.token.words:
                continue
            if other.token.kind != TAG or other.token.marks:  # a known word, or an unknown word with a mark
                break
            if parts == len(self._decided):
                return found if ended else None
            found.append(self._writer.all_labels[self._decided[parts].number])
            parts += 1
        return found

    def _write(self, read: InputWord, labelled: Labelled | None, moved: Iterable[Label]) -> Marked:
        if labelled is None or read.token.kind == TAG:
            return Marked(read.text, read.text, self._writer.all_labels[0].name, NO_LOGITS, 0)
        number = labelled.number
        for label in moved:
            number = self._writer.words.with_mark(number, label) if label.mark else number
        following = self._waiting[0].token if self._waiting else None
        alone = following if following and following.kind == MARK else None  # a separate mark after the word
        cased = self._lower and (read.keeps == ALWAYS or (read.keeps == INSIDE and self._inside))
        label = self._writer.all_labels[number]
        starts = self._starts and self._writer.sentences
        text = self._writer.words.text(read.token, label, cased, starts, alone is not None)
        self._starts = self._writer.ends[number] if alone is None else alone.ends
        self._inside = not (read.token.ends or (alone is not None and alone.ends))
        return Marked(read.text, text, label.name, labelled.logits, labelled.number)


def open_stream(model: AnyModel, writer: LiveWriter, scale: np.ndarray | None = None,
                posteriors: bool = True) -> WordStream:
    """Return a new stream. For the arguments, see `LiveStream` and `WholeStream`."""
    whole = model.lookahead is None
    return WordStream(WholeStream(model, scale, posteriors) if whole else LiveStream(model, scale), writer)
