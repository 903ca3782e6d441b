"""Words as tokens. A word that is not in the vocabulary becomes a form, so that models can read its shape and suffix.

A form of `blogging` is `<form:3:a:ing>`: the length of the suffix, the shape of the word, and the suffix. In a shape,
`A` stands for a run of capitals, `a` for a run of other letters, and `0` for a run of digits. A vocabulary contains the
forms of all words from which it was made. An unknown word becomes one of its forms: of those in the vocabulary, the
form with the longest suffix. The other forms of `blogging` are `<form:2:a:ng>`, `<form:1:a:g>` and `<form:0:a:>`. The
word CRF (`models.word_crf`) reads these tokens.
"""

import re
from collections.abc import Iterator, Sequence

import numpy as np

from punc.base.errors import InputError, StrPath
from punc.tokens.tokenizer import AGAIN, Encoding, LookupTokenizer
from punc.tokens.vocabulary import SPECIALS, UNK, Vocabulary, most_frequent

PREFIX = "<form:"
SUFFIX = 3  # the maximum number of characters in the suffix of a form


class FormTokenizer(LookupTokenizer):
    """Gives each word one token: the word itself or, if it is not in the vocabulary, one of its forms. If none of its
    forms is in the vocabulary either, the token is UNK. Raises InputError if the vocabulary has no forms after the
    special tokens."""

    token_type = "form"
    meaning = "a word, or the shape and last letters of a word that is not in the vocabulary"

    def __init__(self, vocabulary: Vocabulary, path: StrPath | None = None):
        first = len(SPECIALS)
        if not vocabulary.tokens[first:] or not vocabulary.tokens[first].startswith(PREFIX):
            raise InputError(f"no token {PREFIX}…>", AGAIN.format("form"), path, first + 1)
        super().__init__(vocabulary, path)

    @classmethod
    def learn(cls, counts: dict[bytes, int], size: int, min_count: int = 1) -> "FormTokenizer":
        found = {form for word in counts for form in forms(word.decode())}
        return cls(Vocabulary([*SPECIALS, *sorted(found), *most_frequent(counts, size, min_count)]))

    @classmethod
    def is_token(cls, word: bytes) -> bool:
        return not word.startswith(PREFIX.encode())

    def complete(self, ids: np.ndarray, words: Sequence[str]) -> Encoding:
        for index in np.flatnonzero(ids == UNK).tolist():
            known = self.vocabulary.ids(list(forms(words[index])))
            ids[index] = next((form for form in known.tolist() if form != UNK), UNK)
        return super().complete(ids, words)


def forms(word: str) -> Iterator[str]:
    """Yield the forms of a word, longest suffix first. All suffixes are shorter than the word."""
    shape = word_shape(word)
    for length in range(min(SUFFIX, len(word) - 1), -1, -1):
        yield f"{PREFIX}{length}:{shape}:{word[len(word) - length:]}>"


def parse_form(token: str) -> tuple[str, str] | None:
    """Return the shape and the suffix of a form, or None for any other token."""
    if not token.startswith(PREFIX):
        return None
    end = len(token) - 1
    # The suffix's length. A colon cannot show where the suffix begins, because the suffix may contain colons.
    length = int(token[len(PREFIX)])
    return token[len(PREFIX) + 2:end - length - 1], token[end - length:end]


def word_shape(word: str) -> str:
    """Return the shape of a word: `a'a` for `n't`, `AaAa` for `McDonald`, `0a` for `1990s`."""
    kinds = "".join("0" if c.isdigit() else ("A" if c.isupper() else "a") if c.isalpha() else c for c in word)
    return re.sub(r"(.)\1+", r"\1", kinds, flags=re.DOTALL)
