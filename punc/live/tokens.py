"""Streams of words as recognisers write them: marks, tags and numbers are as in files (`asr.tokens`, `asr.written`).

A model reads `hello` of `"hello,"`, and nothing of `[Music]`: such a word comes out after the words before it. Two
words wait for what follows them: one before `<unk>`, which gets its mark, and one that may begin a tag of several
words, `[soft music]`.
"""

import math
from collections import deque
from collections.abc import Iterable
from copy import copy
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import numpy as np

from punc.asr.tokens import MARK, MOST_TAGGED, NUMBER, TAG, URL, WORD, Token, TokenReader, closes, is_plain, opens
from punc.asr.written import MarkedWords
from punc.data.labels import Label, LabelSet, with_capital
from punc.decoding.dispatch import AnyModel
from punc.live.punctuation import Marked, Stream, open_stream
from punc.text.casing import Casing

CACHED = 1 << 14  # words that are not plain
NEVER, INSIDE, ALWAYS = range(3)  # when a word keeps its capitals: inside a sentence
NO_LOGITS = np.zeros(0, np.float32)


class InputWord(NamedTuple):
    """A word that is not letters in lower case (`is_plain`). `keeps` is NEVER, INSIDE or ALWAYS.

    lower   it is a word, and has lower case
    plain   it is read and written as such letters are, as `it's`
    """

    text: str
    token: Token
    keeps: int
    lower: bool = False
    plain: bool = False

    @property
    def is_unknown(self) -> bool:
        """Whether it stands for a word that was not recognised, whose mark goes to the word before."""
        return self.token.kind == TAG and self.token.words != () and not self.token.marks


class LiveWriter:
    """Reads and writes the words of all streams of a model.

    casing   writes words with capitals after the first letter; its `sentences` says whether sentences get a capital
    """

    def __init__(self, model: AnyModel, casing: Casing):
        self.labels: LabelSet = model.labels
        self.all_labels, self.sentences = list(self.labels), casing.sentences
        self.ends = [label.name in self.labels.sentence_ends for label in self.labels]
        self.casing, self.plain = casing, Casing(self.labels, casing.table)
        self.words = MarkedWords(self.labels, self.plain, sentences=casing.sentences)
        self._reader = TokenReader.of(model.tokenizer.vocabulary.tokens)
        self.read = lru_cache(CACHED)(self._read)

    def _read(self, text: str) -> InputWord:
        token = self._reader.token(text)
        always = not self.labels.cased or token.kind in (NUMBER, URL) or token.inner_capital
        return InputWord(text, token, ALWAYS if always else INSIDE if token.first_capital else NEVER,
                         token.kind == WORD and token.has_lower,
                         text == text.lower() and token == Token(WORD, "", text, "", "", "", (text,), False))


class TokenStream:
    """A stream of any words. As long as all that wait are plain, it is `stream`, of what a model reads, and no more."""

    def __init__(self, stream: Stream, writer: LiveWriter):
        self._stream, self._writer, self.casing = stream, writer, stream.casing
        self._waiting: deque[str | InputWord] = deque()  # plain words are strings
        self._special = 0  # how many of them are not plain
        self._decided: deque[Marked] = deque()  # of what the model reads of the words that wait, the first ones
        self._begun: list[tuple[str, float]] = []  # words in square brackets whose end has not come
        self._starts = False  # whether the next word begins a sentence; while all are plain, the casing knows it
        self._inside = False  # whether the input says that it does not
        self._lower = not writer.labels.cased  # whether there was lower case: else capitals say nothing

    def reads(self, word: str) -> bool:
        """As `Stream.reads`."""
        return is_plain(word) or self._writer.read(word).token.words != ()

    def push(self, word: str, pause: float = math.nan) -> list[Marked]:
        """As `Stream.push`."""
        if self._begun or not (is_plain(word) or self._writer.read(word).plain):
            return self._push_special(word, pause)
        self._waiting.append(word)
        return self._new(self._stream.push(word, pause))

    def decide(self, pause: float = math.nan) -> list[Marked]:
        """As `Stream.decide`."""
        found = self._push_begun()
        return found + self._new(self._stream.decide(pause), ended=True)

    def close(self) -> list[Marked]:
        """As `Stream.close`."""
        found = self._push_begun()
        return found + self._new(self._stream.close(), ended=True)

    def _new(self, decided: list[Marked], ended: bool = False) -> list[Marked]:
        """What is newly decided, and what comes out by it."""
        if self._special:
            self._decided += decided
            return self._out(ended)
        for _ in decided:
            self._waiting.popleft()
            self._inside = self._lower = True
        return decided

    def _push_special(self, word: str, pause: float) -> list[Marked]:
        """A word that is not plain, or that may be in square brackets with others."""
        found = self._push_begun() if "[" in word else []
        if not (self._begun or opens(word)):
            return found + self._push_read(self._writer.read(word), pause)
        self._begun.append((word, pause))
        if closes(word):
            tags, self._begun = self._begun, []
            for text, _ in tags:
                found += self._push_read(InputWord(text, Token(TAG, "", text, "", "", "", (), False), NEVER), math.nan)
        return found + self._push_begun() if len(self._begun) == MOST_TAGGED else found

    def _push_begun(self) -> list[Marked]:
        """Words in square brackets whose end does not come are words."""
        begun, self._begun = self._begun, []
        return [marked for text, pause in begun for marked in self._push_read(self._writer.read(text), pause)]

    def _push_read(self, read: InputWord, pause: float) -> list[Marked]:
        self._lower = self._lower or read.lower or any(isinstance(word, str) for word in self._waiting)
        if not self._special:
            self._starts = self.casing.begins
        self._waiting.append(read)
        self._special += 1
        for part in read.token.words:
            self._decided += self._stream.push(part, pause)
            pause = 0.0 if pause == pause else math.nan  # between the parts of a word
        return self._out()

    def _out(self, ended: bool = False) -> list[Marked]:
        """The words whose labels and successors are known.

        ended   what has not come will not come
        """
        found, waiting = [], self._waiting
        while waiting:
            read, following = waiting[0], waiting[1] if len(waiting) > 1 else ""
            parts = 1 if isinstance(read, str) else len(read.token.words)
            if len(self._decided) < parts:
                break
            moved = self._marks_after(read, parts, ended)
            if moved is None:
                break
            marked = [self._decided.popleft() for _ in range(parts)][-1] if parts else None
            alone = following.token if isinstance(following, InputWord) and following.token.kind == MARK else None
            if marked and isinstance(read, str) and not moved and not alone:
                found.append(self._write_plain(marked))
            else:
                found.append(self._write_special(marked, moved, alone))
        if not self._special:
            self.casing.begins = self._starts
        return found

    def _marks_after(self, read: str | InputWord, parts: int, ended: bool) -> list[Label] | None:
        """The labels of the unknown words after the first word that waits; None if one of them is not decided.

        read    the first word
        parts   how many words are read of it
        """
        found: list[Label] = []
        if not parts or (isinstance(read, InputWord) and read.token.kind == TAG):
            return found
        for other in islice(self._waiting, 1, None):
            if isinstance(other, InputWord) and not other.token.words:
                continue
            if isinstance(other, str) or not other.is_unknown:
                break
            if parts == len(self._decided):
                return found if ended else None
            found.append(self._writer.all_labels[self._decided[parts].number])
            parts += 1
        return found

    def _write_plain(self, marked: Marked) -> Marked:
        """The first word that waits, if it is plain, and no mark comes from the words after it."""
        self._waiting.popleft()
        text = self._writer.plain.write_word(marked.word, self._writer.all_labels[marked.number])
        if self._starts and self._writer.sentences and text == text.lower():
            text = with_capital(text)
        self._starts, self._inside, self._lower = self._writer.ends[marked.number], True, True
        return marked._replace(text=text)

    def _write_special(self, marked: Marked | None, moved: Iterable[Label], alone: Token | None) -> Marked:
        """The first word that waits, with its label, whatever it is.

        marked   what the model says of it; None: nothing
        moved    labels whose marks it gets
        alone    a mark that stands alone and follows it
        """
        read = self._waiting.popleft()
        if isinstance(read, str):
            read = self._writer.read(read)
        else:
            self._special -= 1
        if marked is None or read.token.kind == TAG:
            return Marked(read.text, read.text, self._writer.all_labels[0].name, NO_LOGITS, 0)
        number = marked.number
        for label in moved:
            number = self._writer.words.with_mark(number, label) if label.mark else number
        cased = self._lower and (read.keeps == ALWAYS or (read.keeps == INSIDE and self._inside))
        label = self._writer.all_labels[number]
        starts = self._starts and self._writer.sentences
        text = self._writer.words.text(read.token, label, cased, starts, alone is not None)
        self._starts = self._writer.ends[number] if alone is None else alone.ends
        self._inside = not (read.token.ends or (alone is not None and alone.ends))
        return Marked(read.text, text, label.name, marked.logits, marked.number)

    def copy(self) -> "TokenStream":
        """Another stream in the same state; what is pushed to one is not in the other."""
        other = copy(self)
        other._stream = self._stream.copy()
        other.casing = other._stream.casing
        other._waiting, other._decided = self._waiting.copy(), self._decided.copy()
        other._begun = self._begun.copy()
        return other


def open_tokens(model: AnyModel, writer: LiveWriter, scale: np.ndarray | None = None,
                posteriors: bool = True) -> TokenStream:
    """A new stream of any words; arguments as those of `live.open_stream`."""
    return TokenStream(open_stream(model, copy(writer.casing), scale, posteriors), writer)
