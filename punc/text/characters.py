"""Reads and writes text without spaces between words, as in Japanese. Most characters are tokens; a slot follows each
token.

`CharacterReader.split` reads a text as follows:

- A run of Latin letters is one token, which may contain an apostrophe, hyphen or point between two letters: don't,
  T-shirt, example.com. A run of digits is one token, which may contain a point or comma between two digits: 3.5,
  １０，０００. A URL (https://…) is one token.
- Any other character is a token, together with the characters that modify it: combining marks, variation selectors,
  half-width voicing marks, an emoji's skin tone, emoji after a zero-width joiner. Two regional indicators (a flag) are
  one token.
- A character that the label set reads as a mark belongs to the preceding token. If several marks follow a token, the
  strongest wins.
- Spaces of any kind and control characters separate tokens and stay in the output, but models do not read them.

The function `split` divides a transcript into words, and `with_words` replaces them. Each word is a token with the
brackets and marks around it. `punc.text.word_parts` then separates the brackets and marks, as in other languages.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

from punc.data.labels import LabelSet
from punc.text.prose import written
from punc.text.word_parts import HTML, MARKS, replaced
from punc.transcripts.transcript import Script

ADDRESS = re.compile(r"https?://[!-~]*[0-9A-Za-z/_=&#~-]", re.ASCII)
LATIN = re.compile(r"[A-Za-zªºÀ-ÖØ-öø-ʯḀ-ỿＡ-Ｚａ-ｚ]")
VOICED = "ﾞﾟ"  # voicing marks of half-width kana, which Unicode counts as letters
JOINER = "\u200d"
# The shape contains one symbol for each character of a text: l: Latin letter; d: digit; x: modifier of the previous
# character; j: joiner; f: regional indicator; m: mark; P, C: a point or comma that is a mark; `.`, `,`: a point or
# comma that is not a mark; `'`: apostrophe or hyphen; b: blank; o: any other character.
TOKEN = re.compile(r"(?P<token>(?:lx*(?:[.P']?lx*)*|dx*(?:[.,PC]?dx*)*|ff?|[o.,'])(?:x|j[of]?)*)|(?P<mark>[mPC])")
CLASSES = ("<alpha>", "<num>")  # the classes of Latin words and of numbers
TAG = re.compile(r"\[[^\[\]]*\]")
INNER = ":：;–.．"  # between two letters or digits (10:30), these characters are not marks
ASCII = re.compile("[!-~]{2}")  # two tokens without a space between them, as in `5G` and `20%`, are one word
NO_BLANK = re.compile("(?<![!-~]) | (?![!-~])")  # a space, except between two ASCII characters


class Split(NamedTuple):
    """The tokens of a text, the labels of their slots, and the text between tokens. `lead`: marks before the first
    token."""

    tokens: list[str]
    labels: list[str]
    rests: list[str]  # rests[0] is before the first token, rests[i] after the i-th
    lead: list[str]


class TextShape(dict[int, str]):
    """Translation table from a text to its shape. A character is added to the table when it first occurs."""

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
    """Reads and writes texts with a label set whose marks are single characters."""

    def __init__(self, labels: LabelSet):
        self.labels = labels
        self._shape = TextShape(labels.marks)

    def split(self, text: str, tags: bool = False) -> Split:
        """Split a text. `tags`: whether `[tags]` are not read, and stay in the text between tokens."""
        shape = _shape_of(text, self._shape)
        if tags and "[" in text:
            shape = replaced(shape, text, TAG, "b")
        tokens, rests, end = [], [""], 0
        found: list[list[str]] = [[]]
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
        """Return the text of the tokens with their labels. A mark stays if the letters or digits around it would
        otherwise be read as one word or number."""
        empty, follows = self.labels[0].name, zip(split.labels, split.rests[1:], split.tokens, split.tokens[1:])
        kept = [old if new == empty and not rest and _join(*around) else new
                for new, (old, rest, *around) in zip(labels, follows)]
        pairs = zip(written(split.tokens, [*kept, *labels[len(kept):]], self.labels), split.rests[1:])
        return split.rests[0] + "".join(chain.from_iterable(pairs))


_SHAPE = TextShape()


def _shape_of(text: str, table: TextShape) -> str:
    shape = text.translate(table)
    return replaced(shape, text, ADDRESS, "l") if "://" in text else shape


def _join(left: str, right: str) -> bool:
    """Return whether two texts, written without a space, would be read as one word or number."""
    return "" not in (class_of(left[-1:]), class_of(right))


def tokens(text: str) -> list[str]:
    """Return the tokens of a text, with marks as separate tokens."""
    return [text[match.start():match.end()] for match in TOKEN.finditer(_shape_of(text, _SHAPE))]


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in _spans(text)]


def with_words(text: str, words: Sequence[str]) -> str:
    """Replace each word of a text with a new word. For marks that stay, see `CharacterReader.write`."""
    parts, at, before = [], 0, ""
    for (start, end), word in zip(_spans(text), words):
        last = text[at - 1:at]
        stays = start == at and last in MARKS and _join(before, text[start:start + 1])
        parts += [last if stays else text[at:start], word]
        at, before = end, word
    return "".join([*parts, text[at:]])


NO_BLANKS = Script(split, with_words, partial(NO_BLANK.sub, ""))


def _spans(text: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    opened = False  # whether the last token was an opening bracket or quote, which belongs to the next token
    inner = False  # whether the last token was a character between two letters or digits, which belongs to both
    shape = _shape_of(text, _SHAPE)
    if "<" in text:
        shape = replaced(shape, text, HTML, "l")
    for match in TOKEN.finditer(shape):
        (start, end), char = match.span(), text[match.start()]
        kind = unicodedata.category(char)
        follows = bool(spans) and spans[-1][1] == start
        glued = follows and text[start - 1] not in MARKS and ASCII.fullmatch(text, start - 1, start + 1)
        if follows and (opened or inner or glued or char in MARKS or kind in ("Pe", "Pf")):
            start = spans.pop()[0]
        spans.append((start, end))
        opened = kind in ("Ps", "Pi")
        inner = char in INNER and _join(text[match.start() - 1:match.start()], text[end:end + 1])
    return spans


def class_of(token: str) -> str:
    """Return the class, one of CLASSES, that can replace a token in a vocabulary; empty if the token has none.

    Paper: Chen et al., "Investigating context influence in character Level LSTM methods for Japanese Auto Punctuation",
    section 3.1.
    """
    shape = _SHAPE[ord(token[0])] if token else ""
    return CLASSES["ld".index(shape)] if shape in ("l", "d") else ""
