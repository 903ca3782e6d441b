"""Words as characters: Gale & Parthasarathy 2017, "Experiments in Character-level Neural Network Models for
Punctuation", sections 2.1 and 3.2.

A word is its characters and then a blank, which is a token like any other, `<space>`; the word's slot is at that blank.
At a stream's end the last word's slot is at the end of the text, `</s>`, instead. So a stream has as many tokens as
characters and words.

A character is normalised here, one by one, so that words are written as they came:

1. In lower case; every decimal digit of any script is 0; control, format and surrogate characters are left out.
2. One that is not in the vocabulary is replaced by an equivalent, as far as that is: a quote, a dash or a letter of
   `EQUIVALENTS`, else its compatibility decomposition (NFKD) without marks and blanks.
3. What is not in the vocabulary then is left out. A word of which nothing is left still has its slot.
"""

import os
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from punc.base.errors import InputError
from punc.base.lookup import Tokens, split_lines
from punc.base.parallel import map_ordered
from punc.data.block_reader import COUNT_BYTES, Irregular, LineBlock, explain, line_blocks, read_span
from punc.data.datadir import DataDir
from punc.tokens.tokenizer import Encoding, Tokenizer
from punc.tokens.vocabulary import SPECIALS, Vocabulary, most_frequent

SPACE, BLANK = len(SPECIALS), ord(" ")  # the token and the character
POINTS = 0x110000  # of Unicode
NEW, ODD = -2, -1  # in the table: a character not met yet, one that is no token or several
LEFT_OUT = "Cc", "Cf", "Cs"  # Unicode's categories control, format, surrogate
EQUIVALENTS = {
    **dict.fromkeys("‘’‚‛′‵ʼ´`‹›", "'"), **dict.fromkeys("“”„‟″‶«»", '"'), **dict.fromkeys("‐‑‒–—―−", "-"),
    "•": "*", "×": "x", "÷": "/", "⁄": "/",
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ħ": "h", "ı": "i"}


class CharTokenizer(Tokenizer):
    """One token a character, and one after each word.

    Raises InputError if the vocabulary's third token is not `<space>`.
    """

    token_type = "char"
    meaning = "a character, or the blank after a word"
    ends_with_end = True
    summary = "{words} words, {tokens} characters with the blanks in {streams} streams, {lost} left out"

    def __init__(self, vocabulary: Vocabulary, path: str | os.PathLike | None = None):
        if vocabulary.tokens[SPACE:SPACE + 1] != ["<space>"]:
            raise InputError("no '<space>' here", "the vocabulary of characters begins <unk>, </s>, <space>", path,
                             SPACE + 1)
        self.vocabulary = vocabulary
        self._known = {token: i for i, token in enumerate(vocabulary.tokens) if len(token) == 1}
        self._table = np.full(POINTS, NEW, np.int32)  # code point → token
        self._table[BLANK] = SPACE
        self._odd: dict[int, list[int]] = {}  # code point → tokens

    @classmethod
    def read(cls, path: str | os.PathLike) -> "CharTokenizer":
        return cls(Vocabulary.read(path), path)

    @classmethod
    def make(cls, sets: Sequence[DataDir], size: int, min_count: int = 1, nj: int = 1) -> "CharTokenizer":
        counts = count_characters(sets, nj)
        return cls(Vocabulary([*SPECIALS, "<space>", *most_frequent(counts, size, min_count)]))

    def encode(self, words: Sequence[str]) -> Encoding:
        return self._encode("".join(f"{word} " for word in words))

    def text_encoder(self) -> Callable[[Tokens], Encoding]:
        return self._encode_text

    def _encode_text(self, tokens: Tokens) -> Encoding:
        return self._encode(spaced(tokens).decode())

    def _encode(self, text: str) -> Encoding:
        """The tokens of a text of words with a blank after each."""
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
        starts = np.cumsum([0, *map(len, found)])[:-1][kind]
        result[np.repeat(ids < 0, lengths)] = tokens[_runs(starts, lengths[odd])]
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


def _runs(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The numbers from each start on, as many as its length says, end to end."""
    ends = np.cumsum(lengths)
    return np.repeat(starts - ends + lengths, lengths) + np.arange(lengths.sum())


def normalised(character: str) -> str:
    """A character in lower case, which may be several; a decimal digit as 0, one that is not for reading as nothing."""
    return "".join("0" if c.isdecimal() else c for c in character.lower() if unicodedata.category(c) not in LEFT_OUT)


def equivalent(character: str) -> str:
    """What may stand for a normalised character: no character, one or several."""
    if character in EQUIVALENTS:
        return EQUIVALENTS[character]
    parts = [normalised(c) for c in unicodedata.normalize("NFKD", character)
             if not c.isspace() and unicodedata.category(c)[0] != "M"]
    return "".join(EQUIVALENTS.get(c, c) for c in "".join(parts))


def spaced(tokens: Tokens) -> bytes:
    """The tokens of a text, in its order, with a blank after each."""
    array = np.frombuffer(tokens.text, np.uint8)
    steps = np.zeros(len(array) + 1, np.int8)
    steps[tokens.starts] = 1
    steps[tokens.starts + tokens.lengths + 1] -= 1  # 0 where the next token begins there
    kept = array[np.cumsum(steps[:-1], dtype=np.int8).view(bool)]
    return kept.tobytes().replace(b"\n", b" ")


def count_characters(sets: Sequence[DataDir], nj: int = 1) -> dict[bytes, int]:
    """How often each character stands in the words of data directories, after step 1 of the module."""
    points = np.zeros(POINTS, np.int64)
    for data in sets:
        try:
            for kinds, numbers in map_ordered(partial(_count, data.path), line_blocks(data, ["text"], COUNT_BYTES), nj):
                points[kinds] += numbers
        except Irregular:
            raise explain(data) from None
    counts: Counter[bytes] = Counter()
    points[BLANK] = 0
    for point in np.flatnonzero(points).tolist():
        for character in normalised(chr(point)):
            counts[character.encode()] += int(points[point])
    return counts


def _count(path: Path, block: LineBlock) -> tuple[np.ndarray, np.ndarray]:
    """The code points of the words of a block, and how often each stands there."""
    text = spaced(split_lines(read_span(path / "text", block.spans["text"]))[1])
    counts = np.bincount(np.frombuffer(text.decode().encode("utf-32-le"), np.uint32))
    kinds = np.flatnonzero(counts)
    return kinds, counts[kinds]
