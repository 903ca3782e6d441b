"""Words as tokens, but all Latin words are one token, and all numbers another one.

For texts whose words are characters (`text.characters`).
"""

from collections.abc import Callable, Sequence

import numpy as np

from punc.text.characters import CLASSES, class_of, tokens
from punc.tokens.tokenizer import Encoding, LookupTokenizer
from punc.tokens.vocabulary import UNK


class ClassTokenizer(LookupTokenizer):
    """One token a word: its own, else its class, else UNK."""

    token_type = "class"
    by_character = True
    meaning = "a word, but all Latin words are one token and all numbers another"
    first = CLASSES

    @property
    def splitter(self) -> Callable[[str], list[str]]:
        """A word of several characters is these."""
        return lambda word: tokens(word) or [word]

    @classmethod
    def is_token(cls, word: bytes) -> bool:
        return not class_of(word.decode())

    def complete(self, ids: np.ndarray, words: Sequence[str]) -> Encoding:
        """Unknown words get the token of their class, if they have one."""
        for index in np.flatnonzero(ids == UNK).tolist():
            ids[index] = self.vocabulary.id(class_of(words[index]))
        return super().complete(ids, words)
