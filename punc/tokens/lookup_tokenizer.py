"""What tokenizers have in common that look each word up in the vocabulary."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from punc.base.lookup import Lookup, Tokens, strings
from punc.tokens.tokenizer import Encoding, Tokenizer
from punc.tokens.vocabulary import UNK, Vocabulary

# The numbers of words in the vocabulary, int32 (words,), UNK for those that are not there, and a function that gives
# the texts of words by their indices → the encoding of the words.
Completion = Callable[[np.ndarray, Callable[[np.ndarray], list[str]]], Encoding]


class LookupTokenizer(Tokenizer):
    """Words to tokens by a vocabulary.

    complete   what becomes of the words; it can be sent to other processes. By default each is one token
    path       the vocabulary's file, for messages
    """

    def __init__(self, vocabulary: Vocabulary, path: str | os.PathLike | None = None):
        self.vocabulary = vocabulary
        self.complete: Completion = one_each

    @classmethod
    def read(cls, path: str | os.PathLike) -> "LookupTokenizer":
        return cls(Vocabulary.read(path), path)

    def encode(self, words: Sequence[str]) -> Encoding:
        return self.complete(self.vocabulary.ids(words), lambda indices: [words[i] for i in indices.tolist()])

    def text_encoder(self) -> "TextEncoder":
        return TextEncoder(Lookup(self.vocabulary.tokens, UNK), self.complete)


@dataclass(frozen=True)
class TextEncoder:
    """What `LookupTokenizer.text_encoder` returns."""

    lookup: Lookup
    complete: Completion

    def __call__(self, tokens: Tokens) -> Encoding:
        return self.complete(self.lookup.indices(tokens),
                             lambda indices: list(map(bytes.decode, strings(tokens.at(indices)))))


def one_each(ids: np.ndarray, _: object = None) -> Encoding:
    """The encoding of words that have one token each: int32 (words,)."""
    return Encoding(ids, np.arange(len(ids)), int((ids == UNK).sum()))
