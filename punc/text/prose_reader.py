"""Punctuated text to tokens and labels, and back.

How a blank-separated piece of prose is read (`TextReader.token`):

- A word is letters, digits, combining marks, and the symbols that are read out loud: currencies and
  % & @ # + = ± × ÷ ° §. Inside a word an apostrophe, hyphen, point, slash or underscore stays, a comma,
  colon or en dash between two digits too: it's, well-known, 3.5, and/or, 10,000, 7:30. Anything else
  inside splits it: word--word, word…word.
- The marks after a word are looked up in the label set, and the strongest label wins. Marks with no word
  before them (tokenised text, ` -- `, a line that begins with a mark) belong to the word before.
- A hyphen is read as a mark only where it stands alone or is doubled: `pre- and post-war` has none.
- Everything else (quotes, brackets, bullets) is dropped. Typographic apostrophes and hyphens become the
  plain ones; soft hyphens and zero-width spaces vanish.
"""

import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from punc.base.errors import InputError
from punc.base.files import read_lines
from punc.data.labels import LabelSet, with_capital
from punc.data.tables import FORBIDDEN

READ_ALOUD = "%&@#+=±×÷°§"
PLAIN = str.maketrans(dict.fromkeys("’ʼ＇", "'") | dict.fromkeys("‐‑", "-") | dict.fromkeys("\u00ad\u200b\u2060\ufeff"))
# On a token's shape: w a letter or symbol, d a digit, itself for what may stand inside a word, p for the rest.
WORD = re.compile(r"(?:(?<![wd])\.(?=d))?[wd]+(?:(?:-'|['\-/_.]|(?<=d)[,:–](?=d))[wd]+)*")
GLUED_HYPHEN = re.compile(r"(?<!-)-(?!-)")


class Parts(NamedTuple):
    """What a piece of text says: the label it gives to the word before, its words and their labels, blank-separated."""

    lead: str
    words: str
    labels: str


class Shape(dict):
    """Translation table to a token's shape, filled as characters are met."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        category = unicodedata.category(char)
        if char in "'-/_.,:–":
            self[code] = char
        elif category[0] == "N":
            self[code] = "d"
        else:
            letter = category[0] in "LM" or category in ("Sc", "Cf", "Co", "Cn") or char in READ_ALOUD
            self[code] = "w" if letter else "p"
        return self[code]


SHAPE = Shape()


class Clitics:
    """How words are split, as a file says: one rule a line, in lower case, tried from the first.

        can't cannot    a word and what is written for it, one word or several
        n't             a word's end: don't → do n't
        l'              a word's beginning, where the rule ends with an apostrophe: l'eau → l' eau

    Raises InputError for a file without a rule.
    """

    def __init__(self, path: str | os.PathLike):
        self.ends, self.beginnings, self.words = [], [], {}
        for _, line in read_lines(path):
            rule, *pieces = line.lower().translate(PLAIN).split()
            if pieces:
                self.words[rule] = pieces
            else:
                (self.beginnings if rule.endswith("'") else self.ends).append(rule)
        self.tokens = frozenset(self.ends + self.beginnings)
        if not self.tokens and not self.words:
            raise InputError("no rule", "write an end as n't, a beginning as l', or WORD PIECE PIECE", path)

    def split(self, word: str) -> list[str]:
        """The pieces of a word, in its own case where they are its own letters."""
        lower = word.lower()
        if lower in self.words:
            pieces = self.words[lower]
            return [with_capital(pieces[0]), *pieces[1:]] if word[:1].isupper() else pieces
        if len(lower) == len(word):  # or else positions would not agree: İ is two characters in lower case
            for clitic in self.beginnings:
                if lower.startswith(clitic) and len(lower) > len(clitic):
                    return [word[:len(clitic)], *self.split(word[len(clitic):])]
            for clitic in self.ends:
                if lower.endswith(clitic) and len(lower) > len(clitic):
                    return [*self.split(word[:-len(clitic)]), word[-len(clitic):]]
        return [word]


class TextReader:
    """Reads pieces of punctuated prose with a label set.

    lowercase  write words in lower case; where the label set has capitals, the label keeps the first letter's
    clitics    split words by these rules; None leaves them whole
    """

    def __init__(self, labels: LabelSet, lowercase: bool = True, clitics: Clitics | None = None):
        self.labels, self.lowercase, self.clitics = labels, lowercase, clitics
        marks = sorted(labels.marks, key=len, reverse=True)
        self._marks = re.compile("|".join(map(re.escape, marks)) or "(?!)")
        self._attached = {}

    def token(self, token: str) -> Parts:
        """What one blank-separated piece of prose says (rules: see the module)."""
        if token.isalpha() and "ʼ" not in token:  # which is a letter to Unicode, and one of PLAIN
            return self._parts("", [(token, "")])
        token = token.translate(PLAIN)
        if self.clitics and token.lower() in self.clitics.tokens:
            return self._parts("", [(token, "")])
        words, shape = [], token.translate(SHAPE)
        found = list(WORD.finditer(shape))
        starts = [match.start() for match in found] + [len(token)]
        # In tokenised text a clitic stands alone, and its apostrophe is no quote.
        if self.clitics and found and starts[0] and token[starts[0] - 1:found[0].end()].lower() in self.clitics.tokens:
            starts[0] -= 1
        for match, start, end in zip(found, starts, starts[1:]):
            words.append((token[start:match.end()], token[match.end():end]))
        return self._parts(token[:starts[0]], words)

    def _parts(self, lead: str, words: list[tuple[str, str]]) -> Parts:
        """Parts of the marks before the first word, and words with the marks after each."""
        texts, labels = [], []
        for word, gap in words:
            capital, pieces = word[:1].isupper(), self.clitics.split(word) if self.clitics else [word]
            if self.lowercase:
                pieces = [piece.lower() for piece in pieces]
            elif self.labels.cased:
                pieces = [pieces[0][:1].lower() + pieces[0][1:], *pieces[1:]]
            texts += map(legal, pieces)
            marks = self._marks.findall(GLUED_HYPHEN.sub("", gap))
            for i in range(len(pieces)):
                last = i == len(pieces) - 1
                labels.append(self.labels.reading(marks if last else (), capital and i == 0))
        marks = self._marks.findall(GLUED_HYPHEN.sub("", lead) if words else lead)
        return Parts(self.labels.reading(marks) if marks else "", " ".join(texts), " ".join(labels))

    def attach(self, label: str, lead: str) -> str:
        """The label of a word that has `label`, when `lead` is found after it; the word keeps its capital."""
        if (label, lead) not in self._attached:
            mark, known = self.labels[self.labels.index(lead)], self.labels[self.labels.index(label)]
            new = self.labels.reading(mark.marks, capital=True) if mark.marks and known.capital else lead
            self._attached[label, lead] = self.labels.strongest((label, new))
        return self._attached[label, lead]


def legal(word: str) -> str:
    """The word without what Kaldi refuses in a text: `<s>` and `</s>` become s, `#0` becomes 0."""
    return FORBIDDEN.sub(lambda match: match[0].strip("</>#"), word) if "<" in word or "#" in word else word


def write_text(words: Sequence[str], labels: Iterable[str], label_set: LabelSet) -> str:
    """Words and label names as punctuated text, as the label set writes them."""
    return " ".join(written(words, labels, label_set))


def written(words: Sequence[str], labels: Iterable[str], label_set: LabelSet) -> list[str]:
    """Each word as the label set writes it with its label's name; fast for long lists."""
    labels = list(labels)
    # Most labels only add something behind the word. Python steps are taken for the words of other labels.
    ends = {label.name: label.mark if label.written[0] == "w" else None for label in label_set}
    others = {name for name, end in ends.items() if end is None} & set(labels)
    if not others:
        return list(map(str.__add__, words, map(ends.__getitem__, labels)))
    result = list(map(str.__add__, words, map({**ends, **dict.fromkeys(others, "")}.__getitem__, labels)))
    for i in [i for i, name in enumerate(labels) if name in others]:
        result[i] = label_set[label_set.index(labels[i])].write(words[i])
    return result
