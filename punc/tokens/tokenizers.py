"""Units: what a token is, and so how words become tokens, and after which of these each word's slot is.

A directory that holds a tokenizer, a store or a model, has

    vocab          one token a line
    unit           char, subword or class; not there: word
    pieces.model   of subwords: how words are cut

A tokenizer has `encode(words)` and, at full speed, `text_encoder()` for the tokens of a text.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.files import atomic_file, read_lines
from punc.base.lookup import Lookup, Tokens, strings
from punc.data.datadir import DataDir
from punc.text.characters import CLASSES, class_of
from punc.tokens.char_tokens import CharacterTokenizer
from punc.tokens.subwords import SubwordTokenizer
from punc.tokens.vocabulary import (
    END,
    SPECIALS,
    UNK,
    Encoding,
    Vocabulary,
    count_vocabulary,
    count_words,
    most_frequent,
)


class WordTokenizer:
    """The tokens of words that are words: every word has one, UNK where it is not in the vocabulary."""

    token_type = "word"
    vocab_size = 100000  # as make-store has it
    ends_with_end = False
    summary = "{words} words in {streams} streams, {percent:.2f} % unknown"

    def __init__(self, vocabulary: Vocabulary):
        self.vocabulary = vocabulary

    @classmethod
    def read(cls, path: str | os.PathLike) -> "WordTokenizer":
        """Those of a vocabulary's file."""
        return cls(Vocabulary.read(path))

    @classmethod
    def make(cls, sets: Sequence[DataDir], size: int, min_count: int = 1, nj: int = 1) -> "WordTokenizer":
        """The most frequent words of data directories."""
        return cls(count_vocabulary(sets, size, min_count, nj))

    def write(self, directory: Path) -> None:
        """Write what `read_tokenizer` reads."""
        self.vocabulary.write(directory / "vocab")

    def encode(self, words: Sequence[str]) -> Encoding:
        """The tokens of words; each has its slot after it."""
        return _each(self.vocabulary.ids(words))

    def text_encoder(self) -> "WordLookup":
        """`encode` for the tokens of a text, to be sent to other processes."""
        return WordLookup(Lookup(self.vocabulary.tokens, UNK))


class WordLookup(NamedTuple):
    """Tokens of a text to a coding."""

    lookup: Lookup

    def __call__(self, tokens: Tokens) -> Encoding:
        return _each(self.lookup.indices(tokens))


class ClassTokenizer(WordTokenizer):
    """The tokens of words that are words, but for Latin words, which are all one token, and numbers, another one.

    For texts whose words are characters (punc.text.characters). Raises InputError for a vocabulary without these two.
    """

    token_type = "class"

    def __init__(self, vocabulary: Vocabulary, path: str | os.PathLike | None = None):
        first = len(SPECIALS)
        if tuple(vocabulary.tokens[first:first + len(CLASSES)]) != CLASSES:
            raise InputError(f"no {' and '.join(CLASSES)} here", "make the store again: punc make-store --token-type=class",
                             path, first + 1)
        super().__init__(vocabulary)

    @classmethod
    def read(cls, path: str | os.PathLike) -> "ClassTokenizer":
        return cls(Vocabulary.read(path), path)

    @classmethod
    def make(cls, sets: Sequence[DataDir], size: int, min_count: int = 1, nj: int = 1) -> "ClassTokenizer":
        """The most frequent words that have no class."""
        counts = {word: n for word, n in count_words(sets, size, nj).items() if not class_of(word.decode())}
        return cls(Vocabulary([*SPECIALS, *CLASSES, *most_frequent(counts, size, min_count)]))

    def write(self, directory: Path) -> None:
        super().write(directory)
        with atomic_file(directory / "token_type") as file:
            file.write(f"{self.token_type}\n")

    def encode(self, words: Sequence[str]) -> Encoding:
        ids = self.vocabulary.ids(words)
        unknown = np.flatnonzero(ids == UNK)
        ids[unknown] = class_ids([words[i] for i in unknown.tolist()])
        return _each(ids)

    def text_encoder(self) -> "ClassLookup":
        return ClassLookup(Lookup(self.vocabulary.tokens, UNK))


class ClassLookup(NamedTuple):
    """Tokens of a text to a coding, with classes."""

    lookup: Lookup

    def __call__(self, tokens: Tokens) -> Encoding:
        ids = self.lookup.indices(tokens)
        unknown = np.flatnonzero(ids == UNK)
        ids[unknown] = class_ids(list(map(bytes.decode, strings(tokens.at(unknown)))))
        return _each(ids)


def class_ids(words: Sequence[str]) -> np.ndarray:
    """The tokens of words that are not in the vocabulary: their class, else UNK."""
    known = dict(zip(CLASSES, range(len(SPECIALS), len(SPECIALS) + len(CLASSES))))
    return np.fromiter((known.get(class_of(word), UNK) for word in words), np.int32, len(words))


def _each(ids: np.ndarray) -> Encoding:
    return Encoding(ids, np.arange(len(ids)), int((ids == UNK).sum()))


TOKENIZERS = {kind.token_type: kind for kind in (WordTokenizer, CharacterTokenizer, SubwordTokenizer, ClassTokenizer)}


def read_tokenizer(directory: str | os.PathLike) -> WordTokenizer | CharacterTokenizer | SubwordTokenizer:
    """The tokenizer of a store or a model's directory. Raises InputError where its files are not whole."""
    directory, token_type = Path(directory), "word"
    if (directory / "token_type").is_file():
        token_type = next((line for _, line in read_lines(directory / "token_type")), "")
        if token_type not in TOKENIZERS:
            raise InputError(f"'{token_type}' is no token type", f"it is {', '.join(TOKENIZERS)}", directory / "token_type")
    return TOKENIZERS[token_type].read(directory / "vocab")


def encode_streams(tokenizer: WordTokenizer | CharacterTokenizer | SubwordTokenizer, words: Sequence[str],
                   bounds: Sequence[int]) -> tuple[Encoding, np.ndarray]:
    """The tokens of whole streams, and where each stream begins in them and the last one ends.

    bounds   the same in the words, 0 first; no stream is empty
    """
    encoding = tokenizer.encode(words)
    offsets = np.append(0, encoding.slots + 1)[bounds]
    if tokenizer.ends_with_end:
        encoding.ids[offsets[1:] - 1] = END
    return encoding, offsets
