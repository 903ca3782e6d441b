"""Words as tokens; a word that is not in the vocabulary becomes its form.

The form of a word is its shape, in which a or A stands for a run of letters and 0 for a run of digits, and its last
letters with their number: `blogging` has the form `<form:3:a:ing>`. A vocabulary contains the forms of all words that
it is made from. A new word becomes its form, or a form with fewer last letters: `<form:2:a:ng>`, `<form:1:a:g>`,
`<form:0:a:>`. So a model that reads shapes and suffixes can use those of new words (`models.word_crf`).
"""

import re
from collections.abc import Iterator, Sequence

import numpy as np

from punc.base.errors import InputError, StrPath
from punc.tokens.tokenizer import AGAIN, Encoding, LookupTokenizer
from punc.tokens.vocabulary import SPECIALS, UNK, Vocabulary, most_frequent

PREFIX = "<form:"
SUFFIX = 3  # last letters of a form, at most


class FormTokenizer(LookupTokenizer):
    """One token a word: its own, else that of its form, else UNK.

    Raises InputError if the vocabulary has no forms after the special tokens.
    """

    token_type = "form"
    meaning = "a word, or the shape and last letters of a word that is not in the vocabulary"

    def __init__(self, vocabulary: Vocabulary, path: StrPath | None = None):
        first = len(SPECIALS)
        if not vocabulary.tokens[first:] or not vocabulary.tokens[first].startswith(PREFIX):
            raise InputError(f"no {PREFIX}…> here", AGAIN.format("form"), path, first + 1)
        super().__init__(vocabulary, path)

    @classmethod
    def learn(cls, counts: dict[bytes, int], size: int, min_count: int = 1) -> "FormTokenizer":
        found = {form for word in counts for form in forms(word.decode())}
        return cls(Vocabulary([*SPECIALS, *sorted(found), *most_frequent(counts, size, min_count)]))

    @classmethod
    def is_token(cls, word: bytes) -> bool:
        return not word.startswith(PREFIX.encode())

    def complete(self, ids: np.ndarray, words: Sequence[str]) -> Encoding:
        """Unknown words get the token of the longest form that is known."""
        for index in np.flatnonzero(ids == UNK).tolist():
            known = self.vocabulary.ids(list(forms(words[index])))
            ids[index] = next((form for form in known.tolist() if form != UNK), UNK)
        return super().complete(ids, words)


def forms(word: str) -> Iterator[str]:
    """The tokens of a word's form, the one with the most letters first. They are fewer than the word's letters."""
    shape = word_shape(word)
    for length in range(min(SUFFIX, len(word) - 1), -1, -1):
        yield f"{PREFIX}{length}:{shape}:{word[len(word) - length:]}>"


def parse_form(token: str) -> tuple[str, str] | None:
    """Shape and last letters of a form; None for any other token."""
    if not token.startswith(PREFIX):
        return None
    end = len(token) - 1
    length = int(token[len(PREFIX)])  # both parts may contain colons
    return token[len(PREFIX) + 2:end - length - 1], token[end - length:end]


def word_shape(word: str) -> str:
    """The pattern of letters and digits: `n't` is a'a, `McDonald` AaAa, `1990s` 0a."""
    kinds = "".join("0" if c.isdigit() else ("A" if c.isupper() else "a") if c.isalpha() else c for c in word)
    return re.sub(r"(.)\1+", r"\1", kinds, flags=re.DOTALL)
