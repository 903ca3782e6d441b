"""Words as tokens. A word outside the vocabulary becomes its characters and then `<unk>`; its slot is after `<unk>`.

Models can thus read the characters of unknown words (`layers.spelling`). Of a word with more than 32 characters, only
the first 16 and the last 16 become tokens. Character tokens, such as `<char>a`, are at the end of the vocabulary;
`<char>` alone stands for any character without a token of its own. If a word of the text looks like a character token,
it counts as unknown.

Luong & Manning 2016, "Achieving Open Vocabulary Neural Machine Translation with Hybrid Word-Character Models".
"""

import unicodedata
from collections import Counter
from collections.abc import Sequence

import numpy as np

from punc.base.errors import InputError, StrPath
from punc.tokens.tokenizer import AGAIN, Encoding, LookupTokenizer
from punc.tokens.vocabulary import SPECIALS, UNK, Vocabulary, most_frequent

CHARACTER = "<char>"  # the prefix of character tokens
CHARACTERS = 256  # the maximum number of characters that have their own tokens
MAX_LENGTH = 32  # characters; of longer words, only the first 16 and the last 16 become tokens


class SpelledTokenizer(LookupTokenizer):
    """Gives a word of the vocabulary one token, and any other word several tokens. Raises InputError if the vocabulary
    does not end with the character tokens."""

    token_type = "spelled"
    meaning = "a word, or a character of a word that is not in the vocabulary"
    summary = "{words} words, {tokens} tokens in {streams} streams, {lost} words spelled"

    def __init__(self, vocabulary: Vocabulary, path: StrPath | None = None):
        super().__init__(vocabulary, path)
        tokens = vocabulary.tokens
        first = self.first_character = tokens.index(CHARACTER) if CHARACTER in tokens else len(tokens)
        if first == len(tokens) or any(len(token) != len(CHARACTER) + 1 or not token.startswith(CHARACTER)
                                       for token in tokens[first + 1:]):
            raise InputError(f"it does not end with '{CHARACTER}' and characters", AGAIN.format("spelled"), path)
        # Maps each character to the id of its token, and "" to the id of the token of all other characters.
        self._characters = {token[len(CHARACTER):]: i for i, token in enumerate(tokens[first:], first)}

    @classmethod
    def learn(cls, counts: dict[bytes, int], size: int, min_count: int = 1) -> "SpelledTokenizer":
        characters: Counter[str] = Counter()
        for word, count in counts.items():
            for character in spelling_of(word.decode()):
                characters[character] += count
        common = sorted(characters, key=lambda character: (-characters[character], character))[:CHARACTERS]
        return cls(Vocabulary([*SPECIALS, *most_frequent(counts, size, min_count), CHARACTER,
                               *(CHARACTER + character for character in common)]))

    @classmethod
    def is_token(cls, word: bytes) -> bool:
        return not word.startswith(CHARACTER.encode())

    def complete(self, ids: np.ndarray, words: Sequence[str]) -> Encoding:
        unknown = np.flatnonzero((ids == UNK) | (ids >= self.first_character))
        other = self._characters[""]
        spellings = [[self._characters.get(character, other) for character in spelling_of(words[index])]
                     for index in unknown.tolist()]
        lengths = np.ones(len(ids), np.int64)
        lengths[unknown] += np.fromiter(map(len, spellings), np.int64, len(spellings))
        slots = np.cumsum(lengths) - 1
        tokens = np.full(int(lengths.sum()), -1, np.int32)
        tokens[slots] = ids
        tokens[slots[unknown]] = UNK
        tokens[tokens < 0] = [token for spelling in spellings for token in spelling]
        return Encoding(tokens, slots, len(unknown))


def spelling_of(word: str) -> str:
    """Return the characters of an unknown word that become tokens. Combining accents are composed with their letters
    (NFC)."""
    word = unicodedata.normalize("NFC", word)
    half = MAX_LENGTH // 2
    return word if len(word) <= MAX_LENGTH else word[:half] + word[-half:]
