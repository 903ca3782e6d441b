"""Characters as tokens.

The tokens of a word are its characters and then `<space>`. The word's slot is after `<space>`. At the end of a stream,
`</s>` replaces `<space>`.

Only tokens are normalised; words do not change in the output. Each character is normalised separately:

1. The character is converted to lower case. Decimal digits of any script become 0. Control, format and surrogate
   characters are left out.
2. A character that is not in the vocabulary is replaced by its equivalent in `EQUIVALENTS`. If it has none there, it is
   replaced by its compatibility decomposition (NFKD) without combining marks and spaces.
3. Characters that are still not in the vocabulary are left out. A word that loses all its characters keeps its slot.

Gale & Parthasarathy 2017, "Experiments in Character-level Neural Network Models for Punctuation", sections 2.1 and 3.2.
"""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from punc.base.errors import StrPath
from punc.base.runs import bounds_of, ranges
from punc.data.block_reader import LineBlock, read_span, split_rows
from punc.data.datadir import DataDir
from punc.tokens.tokenizer import Encoding, LookupTokenizer
from punc.tokens.vocabulary import SPECIALS, Vocabulary, map_blocks

SPACE, BLANK = len(SPECIALS), ord(" ")  # the token `<space>`, and the code point of a space
POINTS = 0x110000  # the number of code points of Unicode
NEW, ODD = -2, -1  # in `_table`: a character not seen yet; a character with no token, or with several tokens
LEFT_OUT = "Cc", "Cf", "Cs"  # categories of Unicode: control, format, surrogate
EQUIVALENTS = {
    **dict.fromkeys("‘’‚‛′‵ʼ´`‹›", "'"), **dict.fromkeys("“”„‟″‶«»", '"'), **dict.fromkeys("‐‑‒–—―−", "-"),
    "•": "*", "×": "x", "÷": "/", "⁄": "/",
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ħ": "h", "ı": "i"}


class CharTokenizer(LookupTokenizer):
    token_type = "char"
    meaning = "a character, or the space after a word"
    ends_with_end = True
    summary = "{words} words, {tokens} characters with spaces in {streams} streams, {lost} left out"
    first = ("<space>",)

    def __init__(self, vocabulary: Vocabulary, path: StrPath | None = None):
        super().__init__(vocabulary, path)
        self._known = {token: i for i, token in enumerate(vocabulary.tokens) if len(token) == 1}
        self._table = np.full(POINTS, NEW, np.int32)  # code point → token
        self._table[BLANK] = SPACE
        self._odd: dict[int, list[int]] = {}  # code point → tokens

    @classmethod
    def count(cls, sets: Sequence[DataDir], size: int, nj: int = 1) -> dict[bytes, int]:
        """Count the characters in the words of data directories, after step 1 of normalisation. Keys are UTF-8."""
        points = np.zeros(POINTS, np.int64)
        for kinds, numbers in map_blocks(_count, sets, nj):
            points[kinds] += numbers
        counts: Counter[bytes] = Counter()
        for point in np.flatnonzero(points).tolist():
            for character in normalised(chr(point)):
                counts[character.encode()] += int(points[point])
        return counts

    def encode(self, words: Sequence[str]) -> Encoding:
        text = "".join(f"{word} " for word in words)
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        ids = self._table[points]
        slots = np.flatnonzero(points == BLANK)
        odd = np.flatnonzero(ids < 0)
        if not len(odd):
            return Encoding(ids, slots, 0)
        for point in np.unique(points[odd[ids[odd] == NEW]]).tolist():
            self._learn(point)
        kinds, kind = np.unique(points[odd], return_inverse=True)
        found = [self._odd.get(point, [self._table[point]]) for point in kinds.tolist()]
        lengths = np.ones(len(ids), np.int64)
        lengths[odd] = np.fromiter(map(len, found), np.int64, len(found))[kind]
        ends = np.cumsum(lengths)
        result = np.repeat(ids, lengths)
        tokens = np.concatenate([np.zeros(0, np.int32), *found]).astype(np.int32)
        starts = bounds_of(map(len, found))[:-1][kind]
        result[np.repeat(ids < 0, lengths)] = tokens[ranges(starts, lengths[odd])]
        return Encoding(result, ends[slots] - 1, int((lengths == 0).sum()))

    def _learn(self, point: int) -> None:
        ids = []
        for character in normalised(chr(point)):
            if character in self._known:
                ids.append(self._known[character])
            else:
                ids += [self._known[c] for c in equivalent(character) if c in self._known]
        if len(ids) == 1:
            self._table[point] = ids[0]
        else:
            self._table[point], self._odd[point] = ODD, ids


def normalised(character: str) -> str:
    """Apply step 1 of normalisation to a character. Returns zero, one or several characters."""
    return "".join("0" if c.isdecimal() else c for c in character.lower() if unicodedata.category(c) not in LEFT_OUT)


def equivalent(character: str) -> str:
    """Apply step 2 of normalisation to the result of step 1. Returns zero, one or several characters."""
    if character in EQUIVALENTS:
        return EQUIVALENTS[character]
    parts = [normalised(c) for c in unicodedata.normalize("NFKD", character)
             if not c.isspace() and unicodedata.category(c)[0] != "M"]
    return "".join(EQUIVALENTS.get(c, c) for c in "".join(parts))


def _count(path: Path, block: LineBlock) -> tuple[np.ndarray, np.ndarray]:
    text = "".join(split_rows(read_span(path / "text", block.spans["text"])).values)
    counts = np.bincount(np.frombuffer(text.encode("utf-32-le"), np.uint32))
    kinds = np.flatnonzero(counts)
    return kinds, counts[kinds]
