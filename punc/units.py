"""Units: what a token is, and so how words become tokens, and after which of these each word's slot is.

A directory that holds a tokenizer, a store or a model, has

    vocab          one token a line
    unit           char or subword; not there: word
    pieces.model   of subwords: how words are cut

A tokenizer has `encode(words)` and, at full speed, `text_encoder()` for the tokens of a text.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.char_tokens import Characters
from punc.datadir import DataDir
from punc.errors import InputError
from punc.files import read_lines
from punc.lookup import Lookup, Tokens
from punc.subwords import Subwords
from punc.vocabulary import END, UNK, Coding, Vocabulary, count_vocabulary


class Words:
    """The tokens of words that are words: every word has one, UNK where it is not in the vocabulary."""

    unit = "word"
    vocab_size = 100000  # as make-store has it
    ends_with_end = False
    summary = "{words} words in {streams} streams, {percent:.2f} % unknown"

    def __init__(self, vocabulary: Vocabulary):
        self.vocabulary = vocabulary

    @classmethod
    def read(cls, path: str | os.PathLike) -> "Words":
        """Those of a vocabulary's file."""
        return cls(Vocabulary.read(path))

    @classmethod
    def make(cls, sets: Sequence[DataDir], size: int, min_count: int = 1, nj: int = 1) -> "Words":
        """The most frequent words of data directories."""
        return cls(count_vocabulary(sets, size, min_count, nj))

    def write(self, directory: Path) -> None:
        """Write what `read_tokenizer` reads."""
        self.vocabulary.write(directory / "vocab")

    def encode(self, words: Sequence[str]) -> Coding:
        """The tokens of words; each has its slot after it."""
        return _each(self.vocabulary.ids(words))

    def text_encoder(self) -> "WordLookup":
        """`encode` for the tokens of a text, to be sent to other processes."""
        return WordLookup(Lookup(self.vocabulary.tokens, UNK))


class WordLookup(NamedTuple):
    """Tokens of a text to a coding."""

    lookup: Lookup

    def __call__(self, tokens: Tokens) -> Coding:
        return _each(self.lookup.places(tokens))


def _each(ids: np.ndarray) -> Coding:
    return Coding(ids, np.arange(len(ids)), int((ids == UNK).sum()))


UNITS = {kind.unit: kind for kind in (Words, Characters, Subwords)}


def read_tokenizer(directory: str | os.PathLike) -> Words | Characters | Subwords:
    """The tokenizer of a store or a model's directory. Raises InputError where its files are not whole."""
    directory, unit = Path(directory), "word"
    if (directory / "unit").is_file():
        unit = next((line for _, line in read_lines(directory / "unit")), "")
        if unit not in UNITS:
            raise InputError(f"'{unit}' is no unit", f"it is {', '.join(UNITS)}", directory / "unit")
    return UNITS[unit].read(directory / "vocab")


def encode_streams(tokenizer: Words | Characters | Subwords, words: Sequence[str],
                   bounds: Sequence[int]) -> tuple[Coding, np.ndarray]:
    """The tokens of whole streams, and where each stream begins in them and the last one ends.

    bounds   the same in the words, 0 first; no stream is empty
    """
    coding = tokenizer.encode(words)
    offsets = np.append(0, coding.slots + 1)[bounds]
    if tokenizer.ends_with_end:
        coding.ids[offsets[1:] - 1] = END
    return coding, offsets
