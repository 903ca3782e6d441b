"""Text without blanks between words, as Japanese is written: every character is a token with a slot after it.

How a text is read (`CharacterReader.split`):

- A run of Latin letters is one token, with an apostrophe, hyphen or point between two of them: don't, T-shirt,
  example.com. A run of digits is one token, with a point or comma between two of them: 3.5, １０，０００. An address
  (https://…) is one token.
- Any other character is a token, with what belongs to it: combining marks, variation selectors, the half-width marks
  of voiced kana, an emoji's skin, what a zero-width joiner joins to it. Two regional indicators are one flag.
- Marks are what the label set reads as one; they go to the token before them, and the strongest wins.
- Blanks of any kind and control characters are no tokens: they stand between tokens, and no model sees them.

Tokens, and what stands between them, keep their text: written with its labels, a text has other marks than before, and
all else is as it was.
"""

import re
import unicodedata
from itertools import chain
from typing import NamedTuple

from punc.data.labels import LabelSet
from punc.text.prose_reader import written

ADDRESS = re.compile(r"https?://[!-~]*[0-9A-Za-z/_=&#~-]", re.ASCII)
LATIN = re.compile(r"[A-Za-zªºÀ-ÖØ-öø-ʯḀ-ỿＡ-Ｚａ-ｚ]")
VOICED = "ﾞﾟ"  # of half-width kana: letters to Unicode
JOINER = "\u200d"
# On a text's shape: l Latin letter, d digit, x what belongs to the character before, j joiner, f regional indicator,
# m mark, P and C a point and a comma that are marks, else . and , and ' for what stands in a word, b blank, o another.
TOKEN = re.compile(r"(?P<token>(?:lx*(?:[.P']?lx*)*|dx*(?:[.,PC]?dx*)*|ff?|[o.,'])(?:x|j[of]?)*)|(?P<mark>[mPC])")
CLASSES = ("<alpha>", "<num>")  # of Latin words, and of numbers


class Split(NamedTuple):
    """A text as tokens, the label after each, and the rest: rests[0] before the first token, rests[i] after the i-th.

    lead   marks that no token is before
    """

    tokens: list[str]
    labels: list[str]
    rests: list[str]
    lead: list[str]


class Shape(dict):
    """Translation table to a text's shape, filled as characters are met."""

    def __init__(self, marks: frozenset[str] = frozenset()):
        super().__init__()
        self.marks = marks

    def __missing__(self, code: int) -> str:
        self[code] = shape = self._shape(chr(code))
        return shape

    def _shape(self, char: str) -> str:
        mark = char in self.marks
        if char in ".．":
            return "P" if mark else "."
        if char in ",，":
            return "C" if mark else ","
        if mark:
            return "m"
        if char in "'’-":
            return "'"
        if char == JOINER:
            return "j"
        if LATIN.match(char):
            return "l"
        category = unicodedata.category(char)
        if category == "Nd":
            return "d"
        if category[0] == "M" or category == "Cf" or char in VOICED or "\U0001f3fb" <= char <= "\U0001f3ff":
            return "x"
        if category[0] == "Z" or category == "Cc":
            return "b"
        return "f" if "\U0001f1e6" <= char <= "\U0001f1ff" else "o"


class CharacterReader:
    """Reads and writes texts with a label set, whose marks are one character each."""

    def __init__(self, labels: LabelSet):
        self.labels = labels
        self._shape = Shape(labels.marks)

    def split(self, text: str) -> Split:
        """What a text says (rules: see the module)."""
        shape = text.translate(self._shape)
        if "://" in text:
            shape = list(shape)
            for match in ADDRESS.finditer(text):
                shape[match.start():match.end()] = "l" * (match.end() - match.start())
            shape = "".join(shape)
        tokens, found, rests, end = [], [[]], [""], 0
        for match in TOKEN.finditer(shape):
            start = match.start()
            if start > end:
                rests[-1] += text[end:start]
            end = match.end()
            if match.lastgroup == "mark":
                found[-1].append(text[start])
            else:
                tokens.append(text[start:end])
                rests.append("")
                found.append([])
        rests[-1] += text[end:]
        empty = self.labels[0].name
        labels = [self.labels.reading(marks) if marks else empty for marks in found[1:]]
        return Split(tokens, labels, rests, found[0])

    def write(self, split: Split, labels: list[str]) -> str:
        """The text with these labels in its slots."""
        pairs = zip(written(split.tokens, labels, self.labels), split.rests[1:])
        return split.rests[0] + "".join(chain.from_iterable(pairs))


_SHAPE = Shape()


def class_of(token: str) -> str:
    """The class of a token, that a vocabulary may have in its place; empty where it is of none.

    Chen et al., "Investigating context influence in character Level LSTM methods for Japanese Auto Punctuation", 3.1.
    """
    shape = _SHAPE[ord(token[0])] if token else ""
    return CLASSES["ld".index(shape)] if shape in ("l", "d") else ""
