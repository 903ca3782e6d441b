"""Splits a recogniser's word into its core, the characters before the core, and the marks and quotes after the core.

- A mark is one of MARKS at the end of a word. Quotes and brackets stay, and a new mark replaces the old one: `"hello,"`
  → `"hello."`. A hyphen at the end (`wh-`) belongs to the word. A mark that stands alone stays.
- A point after a number may mark an ordinal, so it stays and no mark is added: `42.`
- An abbreviation keeps its point. Abbreviations are letters with points inside (`U.S.`), single letters other than I
  (`E.`), and the words of the kinds `never`, `starter` and `capital` in the file `punc/text/abbreviations.txt`. Other
  marks can follow the point, but no second point (`in the U.S., we`).
- A unit alone (`20 %`, `5 €`) is a word, so that a mark follows the unit, not the number.
- URLs, e-mail addresses and numbers never change case.
- HTML tags at the ends of a word, or in it, stay (`<i>hello,</i>`); a word ends at a tag.
- Tags look like `[Music]`, `<unk>`, `(laughs)`, `{noise}`, `*door*`, `%HESITATION`, `++NOISE++` or `#00:05#`. A tag can
  also consist of several words, such as `[soft music]`. A tag gets no mark. Models do not read tags, except that
  `<unk>` is read as an unknown word.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from punc.data.labels import SENTENCE_ENDS
from punc.text.abbreviations import LETTERS, NEVER, shipped
from punc.text.prose import PLAIN, TOKEN_SHAPE, legal
from punc.text.prose import WORD as SHAPED

WORD, NUMBER, URL, TAG, SILENCE, SYMBOL, MARK = range(7)  # the kinds of tokens
MARKS = "".join(sorted(SENTENCE_ENDS)) + ",;:–—،؛、，；：､"
UNITS = frozenset("%‰°€$£¥％℃￥")
UNKNOWN = frozenset(("<unk>", "[unk]", "<unknown>"))
SILENT = frozenset(("<eps>", "<sil>", "!sil", "sil", "<s>", "</s>"))
TAG_SHAPE = re.compile(r"\[[^\[\]]*\]|<[^<>]*>|\([^()]*\)|\{[^{}]*\}|\*[^*]+\*|!sil|%[a-z]+|\+{1,2}[a-z_]+\+{1,2}|"
                       r"（[^（）]*）|［[^［］]*］|【[^【】]*】|([♪♫♬♩#¶])[^♪♫♬♩#¶]+\1", re.I)
HTML = re.compile(r"</?[A-Za-z][^<>\s]*>")
NUMBER_SHAPE = re.compile(r"[^\w\s]*\d[\d.,:'’/%‰°–-]*[^\w\s]*")
URL_SHAPE = re.compile(r"(?:https?://|www\.)\S+|[^\s@]+@[^\s@]+\.\w+|[\w.-]*\w\.[a-z]{2,24}(?:[/?#]\S*)?")
SAME_LENGTH = {code: char for code, char in PLAIN.items() if char}
TRAIL = re.compile(f"([^{re.escape(MARKS)}]*)([{re.escape(MARKS)}]*)(.*)", re.DOTALL)
MOST_TAGGED = 12  # the maximum number of words in a tag in brackets
MOST_SUNG = 60  # the maximum number of words from one music sign to the next
MUSIC = "♪♫♬♩#¶"
CLOSING = {"[": "]", "(": ")", "*": "*", "（": "）", "［": "］", "【": "】", **{sign: sign for sign in MUSIC}}
OPENING = tuple(CLOSING)
TAG_BEGINS = frozenset("[<({!*%+（［【" + MUSIC)


class Token(NamedTuple):
    """The parts of a word, whose text is `lead + core + before + marks + after`."""

    kind: int  # WORD, NUMBER, …
    lead: str
    core: str
    before: str  # quotes and brackets before the marks
    marks: str  # such as `?!`; empty if there are none
    after: str  # quotes and brackets after the marks
    words: tuple[str, ...]  # the words that a model reads instead of this word; may be empty
    ends: bool  # whether the marks, or the period of a number, end a sentence

    @property
    def abbreviated(self) -> bool:
        """Whether the word is an abbreviation with its point."""
        return self.kind == WORD and self.core[-1] == "."

    @property
    def never_ends(self) -> bool:
        """Whether the word is an abbreviation that never ends a sentence."""
        return self.abbreviated and shipped().kinds.get(self.core.lower()) == NEVER

    @property
    def has_lower(self) -> bool:
        return self.core != self.core.upper()

    @property
    def first_capital(self) -> bool:
        return self.core[:1] != self.core[:1].lower()

    @property
    def inner_capital(self) -> bool:
        return self.core[1:] != self.core[1:].lower()


class TokenReader:
    """Splits words into their parts. `lowercase`: whether the model reads words in lower case."""

    def __init__(self, lowercase: bool = True):
        self._lowercase = lowercase

    @classmethod
    def of(cls, vocabulary: Iterable[str]) -> "TokenReader":
        """Return a reader for a vocabulary, with `lowercase` unless more than 1 % of the words contain a capital."""
        known = [word for word in vocabulary if not word.startswith("<")]
        return cls(sum(word != word.lower() for word in known) <= len(known) / 100)

    def token(self, text: str) -> Token:
        folded = text.lower()
        if folded in SILENT or not text:
            return Token(SILENCE, "", text, "", "", "", (), False)
        if is_plain(text):
            return Token(WORD, "", text, "", "", "", (text,), False)
        if text[0] in TAG_BEGINS and TAG_SHAPE.fullmatch(text.rstrip(MARKS) or text):
            core = text.rstrip(MARKS)
            return Token(TAG, "", core, "", text[len(core):], "", ("<unk>",) if core.lower() in UNKNOWN else (),
                         _ends(text[len(core):]))
        if (core := text.rstrip(MARKS)) in UNITS:
            return Token(WORD, "", core, "", text[len(core):], "", (core,), _ends(text[len(core):]))
        plain = text.translate(SAME_LENGTH)
        shape = plain.translate(TOKEN_SHAPE)
        if "<" in text:
            shape = replaced(shape, text, HTML, "p")
        found = list(SHAPED.finditer(shape))
        if not found or not any(map(str.isalnum, plain)):
            alone = not text.strip(MARKS)
            return Token(MARK if alone else SYMBOL, "", text, "", "", "", (), alone and _ends(text))
        start, stop = found[0].start(), found[-1].end()
        stop += len(text[stop:]) - len(text[stop:].lstrip("-"))
        return self._token(text, start, stop, [plain[one.start():one.end()] for one in found])

    def _token(self, text: str, start: int, stop: int, parts: list[str]) -> Token:
        lead, core, trail = text[:start], text[start:stop], text[stop:]
        kind = WORD
        if NUMBER_SHAPE.fullmatch(text):
            kind = NUMBER
            if trail[:1] == ".":
                core, trail = core + trail, ""
        elif URL_SHAPE.fullmatch(core + trail.rstrip(MARKS)) and not LETTERS.fullmatch(core):
            core = core + trail.rstrip(MARKS)
            kind, trail = URL, text[start + len(core):]
            parts = [core]
        elif trail[:1] == "." and trail[:2] != ".." and (
                (LETTERS.fullmatch(core) and core != "I") or f"{core.lower()}." in shipped().keep_dot):
            core, trail = core + ".", trail[1:]
        before, marks, after = TRAIL.fullmatch(trail).groups()  # type: ignore[union-attr]
        after = after.translate(NO_MARKS)
        return Token(kind, lead, core, before, marks, after, tuple(self._words(parts)),
                     _ends(marks) or (kind == NUMBER and core[-1] == "."))

    def _words(self, parts: list[str]) -> list[str]:
        words = (legal((part.lower() if self._lowercase else part).translate(PLAIN)) for part in parts)
        return list(filter(None, words))  # PLAIN removes soft hyphens, so a part may become empty


def replaced(shape: str, text: str, pattern: re.Pattern[str], symbol: str) -> str:
    """Return the shape of a text with this symbol for each character of the text that belongs to a match."""
    parts, end = [], 0
    for match in pattern.finditer(text):
        parts += [shape[end:match.start()], symbol * (match.end() - match.start())]
        end = match.end()
    return "".join([*parts, shape[end:]])


NO_MARKS = str.maketrans(dict.fromkeys(MARKS, ""))


def _ends(marks: str) -> bool:
    return not SENTENCE_ENDS.isdisjoint(marks)


def is_plain(word: str) -> bool:
    """Return whether a word consists of lower-case letters only, so that the core is its only part."""
    return word.islower() and word.isalpha() and "ʼ" not in word and word != "sil"


def opens(word: str) -> bool:
    """Return whether a word may be the first of several words that are not speech: `[soft`, `(DOOR`, `*door`, `♪`."""
    return word[:1] in OPENING and ((word[0] in MUSIC and word[1:2] == word[0]) or CLOSING[word[0]] not in word[1:])


def closes(opening: str, words: Sequence[str]) -> bool:
    """Return whether `words`, which begin with the sign `opening`, end with the matching sign and are not speech."""
    last = words[-1].rstrip(MARKS)
    if not last.endswith(CLOSING[opening]):
        return False
    if opening == "(":
        text = "".join(words)
        return words[0] == "(" or text == text.upper()
    return True


def is_hidden(token: Token) -> bool:
    """Return whether a token is hidden from readers: a silence, or a tag for programs, such as `<unk>`, `<noise>` or
    `%HESITATION`."""
    return token.kind == SILENCE or (token.kind == TAG and (token.core[0] in "<{!%+" or token.core.lower() in UNKNOWN))


def tagged(words: Sequence[str], segments: np.ndarray) -> np.ndarray:
    """Return which words belong to a tag or song of several words, such as `[soft music]` or `♪ la la ♪`, bool (N,).
    The tag or song must end in the segment in which it begins."""
    inside = np.zeros(len(words), bool)
    after = 0  # index of the first word after the last tag or song found
    for i in [i for i, word in enumerate(words) if word[:1] in OPENING and opens(word)]:  # a fast test first
        if i < after:
            continue
        opening = words[i][0]
        for j in range(i + 1, min(i + (MOST_SUNG if opening in MUSIC else MOST_TAGGED), len(words))):
            if segments[j] != segments[i] or (opening != CLOSING[opening] and opening in words[j]):
                break
            if closes(opening, words[i:j + 1]):
                inside[i:j + 1], after = True, j + 1
                break
    return inside
