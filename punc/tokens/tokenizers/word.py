"""Words as tokens: each word is one token, or `<unk>` if it is not in the vocabulary."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from punc.base.lookup import Lookup, Tokens
from punc.tokens.tokenizer import Encoding, Tokenizer
from punc.tokens.vocabulary import SPECIALS, UNK, Vocabulary, most_frequent


class WordTokenizer(Tokenizer):
    """One token a word."""

    token_type = "word"
    meaning = "a word"

    def __init__(self, vocabulary: Vocabulary):
        self.vocabulary = vocabulary

    @classmethod
    def read(cls, path: str | os.PathLike) -> "WordTokenizer":
        return cls(Vocabulary.read(path))

    @classmethod
    def learn(cls, counts: dict[bytes, int], size: int, min_count: int = 1) -> "WordTokenizer":
        return cls(Vocabulary([*SPECIALS, *most_frequent(counts, size, min_count)]))

    def encode(self, words: Sequence[str]) -> Encoding:
        return one_each(self.vocabulary.ids(words))

    def word_encoder(self) -> Callable[[str], tuple[int]]:
        return lambda word: (self.vocabulary.id(word),)

    def text_encoder(self) -> "WordEncoder":
        return WordEncoder(Lookup(self.vocabulary.tokens, UNK))


@dataclass(frozen=True)
class WordEncoder:
    """What `WordTokenizer.text_encoder` returns."""

    lookup: Lookup

    def __call__(self, tokens: Tokens) -> Encoding:
        return one_each(self.lookup.indices(tokens))


def one_each(ids: np.ndarray) -> Encoding:
    """The encoding of words that have one token each: int32 (words,)."""
    return Encoding(ids, np.arange(len(ids)), int((ids == UNK).sum()))
