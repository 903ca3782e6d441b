"""The words of a transcript, split into core, marks and quotes, and which of their marks stay."""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from punc.base.runs import next_of, previous_of, starts_of_runs
from punc.text.abbreviations import shipped
from punc.text.word_parts import MARK, NUMBER, TAG, UNITS, WORD, Token, TokenReader, tagged

KEEP, REPLACE, AUTO = "keep", "replace", "auto"  # what happens to existing marks (see `keeps`)
USUAL_RATE = 0.13  # marks per word in English speech
LONG = 60  # words; in a text with marks, a longer run without marks counts as unpunctuated
SHORT = 5  # letters; a point after a longer word before a lower-case word is the end of a sentence, not an abbreviation
MOSTLY = 0.75  # if more of a stream's marks are points of abbreviations, the stream counts as unpunctuated


class SplitWords(NamedTuple):
    """W split words: a token for each distinct word (in tags, for each word), and the index of each word's token,
    `codes` int64 (W,).

    counts, streams   int64 (W,): how many words a model reads for each word, and the stream of each word
    """

    tokens: list[Token]
    codes: np.ndarray
    counts: np.ndarray
    streams: np.ndarray
    turns: np.ndarray  # bool (W,): whether the speaker differs from the previous word's speaker

    def of(self, values: Sequence[int]) -> np.ndarray:
        """Return the value of each word, given a value for each token."""
        return np.array(values)[self.codes] if len(values) else np.zeros(0, bool)

    def next(self, values: np.ndarray) -> np.ndarray:
        """Return the value of the next word in the same stream, bool (W,), or False if there is none."""
        return next_of(values & ~starts_of_runs(self.streams), False)

    @property
    def stream(self) -> np.ndarray:
        """The number of each word's stream, counted from 0, int64 (W,)."""
        return np.cumsum(starts_of_runs(self.streams)) - 1

    def read(self) -> list[str]:
        return list(chain.from_iterable(map([token.words for token in self.tokens].__getitem__, self.codes.tolist())))

    @property
    def slots(self) -> np.ndarray:
        """The index of the last part of each word that a model reads, among all parts: a word's slot follows it."""
        return np.cumsum(self.counts[self.counts > 0]) - 1

    @property
    def marked(self) -> np.ndarray:
        """Whether a mark follows each word, as a part of the word or as the next word, bool (W,). The point of an
        abbreviation or number is not a mark."""
        alone = self.of([token.kind == MARK for token in self.tokens])
        return self.of([token.marks != "" for token in self.tokens]) | self.next(alone)

    @property
    def pointed(self) -> np.ndarray:
        """Whether each word is an abbreviation or number that ends with a point, bool (W,)."""
        return self.of([token.core[-1:] == "." for token in self.tokens])

    @property
    def with_next(self) -> np.ndarray:
        """Whether each word belongs to the next one, so that no mark can follow it, bool (W,): a number before its
        unit (`20 %`), an abbreviation before its number (`art. 5`), or an abbreviation such as `dr.`"""
        numbers = self.of([token.kind == NUMBER for token in self.tokens])
        units = self.of([token.core in UNITS for token in self.tokens])
        names = self.of([t.abbreviated and shipped().before_number(t.core) for t in self.tokens])
        titles = self.of([token.never_ends and token.core[:-1].isalpha() for token in self.tokens])
        return numbers & self.next(units) | names & self.next(numbers) | titles

    @property
    def goes_on(self) -> np.ndarray:
        """Whether no sentence can end after each word, bool (W,)."""
        return self.with_next | self.of([token.never_ends for token in self.tokens])

    @property
    def ends(self) -> np.ndarray:
        """Whether each word is the last word that a model reads in a turn or stream, bool (W,)."""
        read = np.flatnonzero(self.counts)
        turns = np.cumsum(self.turns)[read]
        ends = np.zeros(len(self.codes), bool)
        ends[read[next_of(starts_of_runs(turns, self.streams[read]), True)]] = True
        return ends


def take_apart(texts: Sequence[str], reader: TokenReader, streams: np.ndarray, turns: np.ndarray,
               segments: np.ndarray) -> SplitWords:
    """Split W words. For the other arguments, see `SplitWords` and `tagged`."""
    codes: dict[str, int] = {}
    numbers = np.fromiter((codes.setdefault(text, len(codes)) for text in texts), np.int64, len(texts))
    tokens = [reader.token(text) for text in codes]
    for i in np.flatnonzero(tagged(texts, segments)).tolist():
        tokens.append(Token(TAG, "", texts[i], "", "", "", (), False))
        numbers[i] = len(tokens) - 1
    counts = np.array([len(token.words) for token in tokens], np.int64)[numbers] if tokens else numbers
    return SplitWords(tokens, numbers, counts, streams, turns)


def with_abbreviations(words: SplitWords) -> SplitWords:
    """Return the words with the points of abbreviations as parts of words, in streams that have hardly any other marks.

    These are short words before a lower-case word (`2 lbs. and`), and all words before a number (`art. 5`).
    """
    stops = words.of([t.kind == WORD and t.marks == "." and not t.before + t.after for t in words.tokens])
    short = words.of([len(t.core) <= SHORT for t in words.tokens])
    lower = words.next(words.of([t.kind == WORD and t.core[0].islower() for t in words.tokens]))
    digit = words.next(words.of([t.kind == NUMBER and t.core[0].isdigit() for t in words.tokens]))
    points, stream = stops & ((short & lower) | digit), words.stream
    few = np.bincount(stream, points) > MOSTLY * np.bincount(stream, words.marked)
    found = np.flatnonzero(points & (few | ~_marked_streams(words))[stream])
    stopped, variants = np.unique(words.codes[found], return_inverse=True)
    pointed = [words.tokens[code]._replace(core=words.tokens[code].core + ".", marks="", ends=False)
               for code in stopped.tolist()]
    codes = words.codes.copy()
    codes[found] = len(words.tokens) + variants
    return words._replace(tokens=[*words.tokens, *pointed], codes=codes)


def keeps(words: SplitWords, marks: str) -> np.ndarray:
    """Return whether the marks of each word stay, bool (W,).

    KEEP: all marks stay. REPLACE: no marks stay. AUTO: marks stay in streams with at least a third of the usual rate
    of marks.
    """
    if marks != AUTO:
        return np.full(len(words.codes), marks == KEEP)
    return _marked_streams(words)[words.stream]


def _marked_streams(words: SplitWords) -> np.ndarray:
    """Return whether each stream has at least a third of the usual rate of marks, bool (streams,)."""
    stream, read = words.stream, words.counts > 0
    rates = np.bincount(stream, words.marked & read) / np.maximum(np.bincount(stream, read), 1)
    return rates >= USUAL_RATE / 3


def unmarked(words: SplitWords) -> np.ndarray:
    """Return which words are in a turn without marks, or in a long run of words without marks, bool (W,). In a text
    with marks, the marks of these words are probably missing."""
    read = np.flatnonzero(words.counts)
    marked, last = words.marked[read], words.ends[read]
    turn = np.cumsum(previous_of(last, False))
    run = np.cumsum(previous_of(marked | last, False))
    lacks = np.zeros(len(words.codes), bool)
    if len(read):
        lacks[read] = (np.bincount(turn, marked)[turn] == 0) | ((np.bincount(run)[run] > LONG) & ~marked)
    return lacks
