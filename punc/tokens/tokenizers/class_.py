"""Words as tokens, but all Latin words are one token, and all numbers another one.

For texts whose words are characters (`text.characters`).
"""

import os
from collections.abc import Callable, Sequence

import numpy as np

from punc.base.errors import InputError
from punc.text.characters import CLASSES, class_of, tokens
from punc.tokens.tokenizer import Encoding, LookupTokenizer
from punc.tokens.vocabulary import SPECIALS, UNK, Vocabulary, most_frequent


class ClassTokenizer(LookupTokenizer):
    """One token a word: its own, else its class, else UNK.

    Raises InputError if the vocabulary does not have the classes after the special tokens.
    """

    token_type = "class"
    by_character = True
    meaning = "a word, but all Latin words are one token and all numbers another"

    def __init__(self, vocabulary: Vocabulary, path: str | os.PathLike | None = None):
        first = len(SPECIALS)
        if tuple(vocabulary.tokens[first:first + len(CLASSES)]) != CLASSES:
            raise InputError(f"no {' and '.join(CLASSES)} here",
                             "make the store again: punc make-store --token-type=class", path, first + 1)
        super().__init__(vocabulary, path)

    @property
    def splitter(self) -> Callable[[str], list[str]]:
        """A word of several characters is these."""
        return lambda word: tokens(word) or [word]

    @classmethod
    def learn(cls, counts: dict[bytes, int], size: int, min_count: int = 1) -> "ClassTokenizer":
        return cls(Vocabulary([*SPECIALS, *CLASSES, *most_frequent(counts, size, min_count)]))

    @classmethod
    def is_token(cls, word: bytes) -> bool:
        return not class_of(word.decode())

    def complete(self, ids: np.ndarray, words: Sequence[str]) -> Encoding:
        """Unknown words get the token of their class, if they have one."""
        known = dict(zip(CLASSES, range(len(SPECIALS), len(SPECIALS) + len(CLASSES))))
        for index in np.flatnonzero(ids == UNK).tolist():
            ids[index] = known.get(class_of(words[index]), UNK)
        return super().complete(ids, words)
