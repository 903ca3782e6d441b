"""Words of a document as tokens, and as they are written with their labels."""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from punc.asr.document import Document
from punc.asr.matching import word_bounds, word_texts
from punc.asr.tokens import MARK, NUMBER, TAG, URL, WORD, Token, TokenReader, tagged
from punc.base.runs import previous_of, starts_of_runs
from punc.data.labels import Label, LabelSet, with_capital
from punc.text.casing import Casing


class Words(NamedTuple):
    """The W words of a document.

    tokens       the different words, taken apart
    codes        int64 (W,): the token of each word
    first, last  int64 (W,): its pieces
    counts       int64 (W,): how many words a model reads of it
    streams      int64 (W,)
    turns        bool (W,): another speaker than that of the word before begins
    """

    tokens: list[Token]
    codes: np.ndarray
    first: np.ndarray
    last: np.ndarray
    counts: np.ndarray
    streams: np.ndarray
    turns: np.ndarray

    def of(self, values: Sequence[int]) -> np.ndarray:
        """A value of each word, given one for each token."""
        return np.array(values)[self.codes] if len(values) else np.zeros(0, bool)

    def read(self) -> list[str]:
        """What a model reads, word after word."""
        return list(chain.from_iterable(map([token.words for token in self.tokens].__getitem__, self.codes.tolist())))


def take_apart(document: Document, reader: TokenReader) -> Words:
    """The words of a document."""
    first, last = word_bounds(document.joined)
    texts, streams, speaker = word_texts(document.pieces, first, last), document.streams[first], document.speaker[first]
    turns = starts_of_runs(speaker) & ~starts_of_runs(streams)
    return of_texts(texts, reader, streams, turns, document.segments[first])._replace(first=first, last=last)


def of_texts(texts: Sequence[str], reader: TokenReader, streams: np.ndarray, turns: np.ndarray,
             segments: np.ndarray) -> Words:
    """W words that are one piece each; the other arguments are those of `Words` and `tagged`."""
    codes: dict[str, int] = {}
    numbers = np.fromiter((codes.setdefault(text, len(codes)) for text in texts), np.int64, len(texts))
    tokens = [reader.token(text) for text in codes]
    for i in np.flatnonzero(tagged(texts, segments)).tolist():  # few
        tokens.append(Token(TAG, "", texts[i], "", "", "", (), False))
        numbers[i] = len(tokens) - 1
    counts = np.array([len(token.words) for token in tokens], np.int64)[numbers] if tokens else numbers
    pieces = np.arange(len(texts))
    return Words(tokens, numbers, pieces, pieces + 1, counts, streams, turns)


class MarkedWords:
    """Writes words with their labels.

    casing      writes words with capitals after the first letter
    keep_marks  a word that has marks stays as it is
    sentences   a word that begins a stream or a sentence gets a capital, whatever its label
    any_case    words are written as their labels say, and keep only capitals that no label explains; else all letters
                stay as they are, but for those that a label or the casing makes capitals
    """

    def __init__(self, label_set: LabelSet, casing: Casing, keep_marks: bool = False, sentences: bool = False,
                 any_case: bool = True):
        self.label_set, self._casing, self._keep, self._sentences = label_set, casing, keep_marks, sentences
        self._any_case = any_case
        self._bare = Label("", "w"), Label("", "W")

    def write(self, words: Words, labels: np.ndarray) -> tuple[list[str], np.ndarray]:
        """The text of each word, and its label, int64 (W,), which is another where marks stay or move.

        labels  int64 (W,), 0 for a word that no model reads
        """
        labels = labels.copy()
        kinds, had = words.of([token.kind for token in words.tokens]), words.of([t.marks != "" for t in words.tokens])
        self._move(words, labels, kinds == TAG, had)
        read = np.flatnonzero((words.counts > 0) & (kinds != TAG))
        begins = starts_of_runs(words.streams[read])
        alone = np.zeros(len(labels), bool)  # a mark that stands alone follows
        following = np.flatnonzero((kinds == MARK) & ~starts_of_runs(words.streams))
        before = following - 1
        alone[before] = True
        self._keep_marks(words, labels, had & self._keep & (kinds != TAG))
        ends = words.of([token.ends for token in words.tokens])
        ended = np.isin(labels, [i for i, label in enumerate(self.label_set) if label.name in
                                 self.label_set.sentence_ends])
        ended[before] = ends[following]
        ends[before] |= ends[following]
        capital = np.zeros((2, len(labels)), bool)
        for row, after in zip(capital, (ended, ends)):
            row[read] = begins | previous_of(after[read], True)
        starts = (capital[0] | (words.turns & self._any_case)) & self._sentences
        cased = self._kept_case(words, kinds, ~capital[1]) if self._any_case else np.zeros(len(labels), bool)
        return self._texts(words, labels, np.stack([cased, starts, alone])), labels

    def _move(self, words: Words, labels: np.ndarray, tags: np.ndarray, had: np.ndarray) -> None:
        """The mark of a tag that stands for a word goes to the word before, which then has the stronger of two."""
        read = np.flatnonzero(words.counts)
        for i in np.flatnonzero(tags[read])[::-1].tolist():  # the mark of the last of several goes through the others
            at, before = int(read[i]), int(read[i - 1]) if i else -1
            label = self.label_set[int(labels[at])]
            if not label.mark:
                continue
            labels[at] = 0
            if before >= 0 and words.streams[before] == words.streams[at] and not had[at]:
                labels[before] = self.with_mark(int(labels[before]), label)

    def with_mark(self, own: int, other: Label) -> int:
        """The label of a word with the label `own` that also gets the mark of another one: the stronger mark wins."""
        label = self.label_set[own]
        marks = (*(label.marks if label.mark else ()), *other.marks)
        return self.label_set.index(self.label_set.reading(marks, label.capital))

    def _keep_marks(self, words: Words, labels: np.ndarray, kept: np.ndarray) -> None:
        """The labels of words that keep their marks."""
        for i in np.flatnonzero(kept).tolist():
            marks, capital = words.tokens[words.codes[i]].marks, self.label_set[int(labels[i])].capital
            labels[i] = self.label_set.index(self.label_set.reading(marks, capital))

    def _kept_case(self, words: Words, kinds: np.ndarray, inside: np.ndarray) -> np.ndarray:
        """Which words keep their case, bool (W,): those with capitals that no beginning of a sentence explains."""
        if self._keep or not self.label_set.cased:
            return np.ones(len(kinds), bool)
        kept = (kinds == NUMBER) | (kinds == URL)
        lower = words.of([token.has_lower for token in words.tokens])
        if not (lower & (kinds == WORD)).any():
            return kept  # all is in capitals
        inner = words.of([token.inner_capital for token in words.tokens])
        upper = words.of([token.first_capital for token in words.tokens])
        return kept | inner | (upper & inside)

    def _texts(self, words: Words, labels: np.ndarray, flags: np.ndarray) -> list[str]:
        """The texts; each different combination of token, label and flags is written once."""
        code = words.codes
        for column, size in ((labels, len(self.label_set)), *((row, 2) for row in flags)):
            code = code * size + column
        different, number = np.unique(code, return_inverse=True)
        texts = []
        for one in different.tolist():
            rest, alone = divmod(one, 2)
            rest, start = divmod(rest, 2)
            rest, cased = divmod(rest, 2)
            token, label = divmod(rest, len(self.label_set))
            texts.append(self.text(words.tokens[token], self.label_set[label], cased > 0, start > 0, alone > 0))
        return list(map(texts.__getitem__, number.tolist()))

    def text(self, token: Token, label: Label, cased: bool, start: bool, alone: bool) -> str:
        """A word with its label.

        cased  it keeps its case
        start  it begins a sentence
        alone  a mark that stands alone follows
        """
        lead, core, before, marks, after = token[1:6]
        if token.kind not in (WORD, NUMBER, URL):
            return lead + core + before + marks + after
        stays = self._keep and (marks != "" or core[-1] == ".")
        if token.kind == WORD:
            core = self._core(core, label.capital and not stays, cased, start)
        if stays:
            return lead + core + before + marks + after
        prefix, mark = label.written.partition("W" if label.capital else "w")[0], label.mark
        if core[-1] == ".":
            mark = "" if token.kind == NUMBER else mark.removeprefix(".")
        return lead + prefix + core + before + ("" if alone else mark) + after

    def _core(self, core: str, capital: bool, cased: bool, start: bool) -> str:
        if not cased:
            bare = core.removesuffix(".").lower() if self._any_case else core.removesuffix(".")
            core = self._casing.write_word(bare, self._bare[capital]) + core[len(bare):]
        elif capital and core == core.lower():
            core = with_capital(core)
        return with_capital(core) if start and core == core.lower() else core
