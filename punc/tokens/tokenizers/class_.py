"""Words as tokens, for texts in which each character counts as a word (`text.characters`). All Latin words share one
token, and all numbers share another."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from punc.text.characters import CLASSES, class_of, tokens
from punc.tokens.tokenizer import CACHED, Encoding, LookupTokenizer
from punc.tokens.vocabulary import UNK


@lru_cache(CACHED)
def characters_of(word: str) -> list[str]:
    return tokens(word) or [word]


class ClassTokenizer(LookupTokenizer):
    """Gives each word one token: the word itself or, if it is not in the vocabulary, its class, `<alpha>` or `<num>`.
    An unknown word without a class becomes UNK."""

    token_type = "class"
    by_character = True
    meaning = "a word, but all Latin words are one token and all numbers another"
    first = CLASSES

    @property
    def splitter(self) -> Callable[[str], list[str]]:
        return characters_of

    @classmethod
    def is_token(cls, word: bytes) -> bool:
        return not class_of(word.decode())

    def complete(self, ids: np.ndarray, words: Sequence[str]) -> Encoding:
        for index in np.flatnonzero(ids == UNK).tolist():
            ids[index] = self.vocabulary.id(class_of(words[index]))
        return super().complete(ids, words)
