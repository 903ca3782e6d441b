"""Converts punctuated text to words and labels, and back.

A token is the text between two spaces. `TextReader.token` reads a token as follows:

- A word consists of letters, digits, combining marks, and symbols that are read out: currency signs and % & @ # + = ±
  × ÷ ° §. Inside a word, an apostrophe, hyphen, point, slash or underscore is kept, as is a comma, colon or en dash
  between two digits: it's, well-known, 3.5, and/or, 10,000, 7:30. A superscript or subscript directly after a letter or
  digit belongs to the word: m². Any other character splits the word: word--word, word…word.
- The label set maps each mark after a word to a label; the word gets the strongest of these labels. Marks before the
  first word of a token, and marks in a token without words, belong to the last word before the token. Tokens without
  words are common in tokenised text (`yes , sir`); ` -- ` is another example.
- A hyphen is a mark only if it stands alone or is doubled: `pre- and post-war` has no mark.
- Everything else (quotes, brackets, bullets, soft hyphens, zero-width spaces) is removed. Typographic apostrophes and
  hyphens become ASCII characters.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import IO, NamedTuple

from punc.base.errors import InputError, StrPath
from punc.base.files import atomic_file, read_lines
from punc.data.labels import LabelSet, with_capital
from punc.data.tables import FORBIDDEN

READ_ALOUD = "%&@#+=±×÷°§"
INVISIBLE = "\u00ad\u200b\u2060\ufeff"
PLAIN = str.maketrans(dict.fromkeys("’ʼ＇´`′", "'") | dict.fromkeys("‐‑", "-") | dict.fromkeys(INVISIBLE))
SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉"
# WORD matches shapes of tokens: w stands for a letter or symbol, d for a digit, s for a superscript, each of
# `'-/_.,:–` for itself, and p for any other character.
WORD = re.compile(r"(?:(?<![wd])\.(?=d))?[wd][wds]*(?:(?:-'|['\-/_.]|(?<=d)[,:–](?=d))[wd][wds]*)*")
GLUED_HYPHEN = re.compile(r"(?<!-)-(?!-)")
# `TextReader.token` has a fast path for tokens of letters that end in at most one of these marks.
END_MARKS = frozenset(".,:;?!")
MOST_GAPS = 10_000  # the cache of labels is cleared when it has more gaps (the marks between two words) than this


class Parts(NamedTuple):
    """The analysis of a token or line: a label for the previous word, the words, their labels, and the name under which
    a repair of the line is counted. Each may be empty."""

    lead: str
    words: str
    labels: str
    repair: str = ""


class TokenShape(dict[int, str]):
    """Translation table from tokens to shapes (see WORD). A character is added to the table when it first occurs."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        category = unicodedata.category(char)
        if char in "'-/_.,:–":
            self[code] = char
        elif char in SUPERSCRIPTS:
            self[code] = "s"
        elif category[0] == "N":
            self[code] = "d"
        else:
            letter = category[0] in "LM" or category in ("Sc", "Cf", "Co", "Cn") or char in READ_ALOUD
            self[code] = "w" if letter else "p"
        return self[code]


TOKEN_SHAPE = TokenShape()


class Clitics:
    """Rules that split words, from a file with one rule per line. There are three kinds of rules. Rules for whole words
    are tried first, then rules for beginnings, then rules for ends. The first rule that matches is used. If it cuts off
    a beginning or an end, the rest of the word is split again.

        can't cannot    a word, and the word or words that replace it
        n't             the end of a word: don't → do n't
        l'              the beginning of a word (a rule that ends with an apostrophe): l'eau → l' eau

    Raises InputError if the file has no rules, or a line of invisible characters.
    """

    def __init__(self, path: StrPath):
        self.ends: list[str] = []
        self.beginnings: list[str] = []
        self.words: dict[str, list[str]] = {}
        for number, line in read_lines(path):
            rule, *parts = line.lower().translate(PLAIN).split() or [""]
            if not rule:
                raise InputError("a line of invisible characters", "remove it", path, number)
            if parts:
                self.words[rule] = parts
            else:
                (self.beginnings if rule.endswith("'") else self.ends).append(rule)
        self.tokens = frozenset(self.ends + self.beginnings)
        if not self.tokens and not self.words:
            raise InputError("no rules in the file",
                             "write an end as n't, a beginning as l', or WORD PART PART", path)

    def write(self, path: StrPath) -> None:
        with atomic_file(path) as file:
            file.writelines(f"{rule} {' '.join(parts)}\n" for rule, parts in self.words.items())
            file.writelines(f"{rule}\n" for rule in (*self.beginnings, *self.ends))

    def split(self, word: str) -> list[str]:
        """Split a word. Beginnings and ends that are cut off keep their case. The parts from a rule for the whole word
        are written as in the rule; the first part gets a capital if the word begins with a capital."""
        lower = word.lower()
        if lower in self.words:
            parts = self.words[lower]
            return [with_capital(parts[0]), *parts[1:]] if word[:1].isupper() else parts
        if len(lower) == len(word):  # İ has two characters in lower case, so an index in `lower` would not fit `word`
            for clitic in self.beginnings:
                if lower.startswith(clitic) and len(lower) > len(clitic):
                    return [word[:len(clitic)], *self.split(word[len(clitic):])]
            for clitic in self.ends:
                if lower.endswith(clitic) and len(lower) > len(clitic):
                    return [*self.split(word[:-len(clitic)]), word[-len(clitic):]]
        return [word]


class TextReader:
    """Reads punctuated prose, token by token. With `lowercase`, words are converted to lower case; if the label set has
    capitals, the label shows whether the first letter was a capital."""

    def __init__(self, labels: LabelSet, lowercase: bool = True, clitics: Clitics | None = None):
        self.labels, self.lowercase, self.clitics = labels, lowercase, clitics
        marks = sorted(labels.marks, key=len, reverse=True)
        self._marks = re.compile("|".join(map(re.escape, marks)) or "(?!)")
        self._openings = re.compile("|".join(map(re.escape, labels.openings)) or "(?!)")
        self._apart = re.compile(rf"({self._openings.pattern})\s+")
        self._attached: dict[tuple[str, str], str] = {}
        self._gap_labels: dict[tuple[str, bool, str], str] = {}

    def split(self, text: str) -> list[str]:
        """Return the tokens of a text. A mark before a word may be apart from it: `¿ Cómo` is one token."""
        return (self._apart.sub(r"\1", text) if self.labels.openings else text).split()

    def token(self, token: str) -> Parts:
        letters = token[:-1] if token[-1:] in END_MARKS else token
        plain = letters.isalpha() and "ʼ" not in letters  # isalpha() is true of ʼ, which PLAIN must replace
        if plain and self.lowercase and not self.clitics:  # a fast path for most tokens; equals the code below
            return Parts("", letters.lower(), self._gap_label(token[len(letters):], letters[0].isupper()))
        if plain and letters is token:
            return self._parts("", [(token, "")])
        token = token.translate(PLAIN)
        if self.clitics and token.lower() in self.clitics.tokens:
            return self._parts("", [(token, "")])
        words, shape = [], token.translate(TOKEN_SHAPE)
        found = list(WORD.finditer(shape))
        starts = [match.start() for match in found] + [len(token)]
        # In tokenised text, a clitic such as `'s` is a separate token. Its apostrophe is part of the word, not a
        # quotation mark.
        if self.clitics and found and starts[0] and token[starts[0] - 1:found[0].end()].lower() in self.clitics.tokens:
            starts[0] -= 1
        for match, start, end in zip(found, starts, starts[1:]):
            words.append((token[start:match.end()], token[match.end():end]))
        return self._parts(token[:starts[0]], words)

    def _parts(self, lead: str, words: list[tuple[str, str]]) -> Parts:
        texts: list[str] = []
        labels: list[str] = []
        before = lead
        for word, gap in words:
            capital = word[:1].isupper()
            opening = "".join(self._openings.findall(before)[-1:])
            split = self.clitics.split(word) if self.clitics else [word]
            if self.lowercase:
                split = [part.lower() for part in split]
            elif self.labels.cased:
                split = [split[0][:1].lower() + split[0][1:], *split[1:]]
            texts += map(legal, split)
            for i in range(len(split)):
                first, last = i == 0, i == len(split) - 1
                labels.append(self._gap_label(gap if last else "", capital and first, opening if first else ""))
            before = gap
        marks = self._marks.findall(GLUED_HYPHEN.sub("", lead) if words else lead)
        return Parts(self.labels.reading(marks) if marks else "", " ".join(texts), " ".join(labels))

    def _gap_label(self, gap: str, capital: bool, opening: str = "") -> str:
        label = self._gap_labels.get((gap, capital, opening))
        if label is None:
            if len(self._gap_labels) > MOST_GAPS:
                self._gap_labels.clear()
            label = self.labels.reading(self._marks.findall(GLUED_HYPHEN.sub("", gap)), capital, opening)
            self._gap_labels[gap, capital, opening] = label
        return label

    def attach(self, label: str, lead: str) -> str:
        """Return the label of a word after the mark of the label `lead` is added to it. Before, the word's label was
        `label`. The stronger mark wins."""
        if (label, lead) not in self._attached:
            mark = self.labels[self.labels.index(lead)]
            known = self.labels[self.labels.index(label)]
            new = self.labels.reading(mark.marks, known.capital, known.opening) if mark.marks else lead
            self._attached[label, lead] = self.labels.strongest((label, new))
        return self._attached[label, lead]


def legal(word: str) -> str:
    """Change words that Kaldi does not allow in a text: `<s>` and `</s>` become s, `#0` becomes 0."""
    return FORBIDDEN.sub(lambda match: match[0].strip("</>#"), word) if "<" in word or "#" in word else word


def written(words: Sequence[str], labels: Iterable[str], label_set: LabelSet) -> list[str]:
    """Return each word as it is written with its label, given the labels' names. Fast for long lists."""
    labels = list(labels)
    # Most labels only add a mark after the word. The loop changes only words with other labels.
    marks = {label.name: label.mark for label in label_set}
    others = {label.name for label in label_set if label.written[0] != "w"}
    result = list(map(str.__add__, words, map(marks.__getitem__, labels)))
    for i in () if others.isdisjoint(labels) else [i for i, name in enumerate(labels) if name in others]:
        result[i] = label_set[label_set.index(labels[i])].write(words[i])
    return result


QUOTE = '"'


class ProseWriter:
    """Writes the utterances of streams to a file, one per line: id and text. Joins `clitics` to their words.

    A label can add a quotation mark `"` after a word, but does not state whether it opens or closes a quotation. In
    each sentence, the first `"` opens a quotation and is put before the next word, the second closes it, and so on. If
    a quotation is still open at the end of a sentence or stream, a closing `"` is added after the last word and its
    mark.
    """

    def __init__(self, file: IO[bytes], labels: LabelSet, casing: Mapping[str, str] | None = None,
                 clitics: Set[str] = frozenset()):
        self._file = file
        self._casing = casing or {}
        self._clitics = clitics
        self._labels = {label.name: label for label in labels}
        self._quotes = {label.name for label in labels if QUOTE in label.mark}
        self._ends = labels.sentence_ends
        self._held: tuple[str, str, list[str]] | None = None  # the next utterance to write: id, stream, marked words
        self._open = self._waits = self._joins = False

    def write(self, key: str, stream: str, words: Sequence[str], names: Sequence[str]) -> None:
        """Write an utterance. The utterances of a stream must follow one another."""
        self._release(self._held is None or self._held[1] != stream)
        self._held = key, stream, self._written(words, names)

    def close(self) -> None:
        """Write the last utterance. The file stays open."""
        self._release(True)
        self._held = None

    def _release(self, last: bool) -> None:
        if self._held:
            key, _, texts = self._held
            # If the opening quotation mark still waits for a word, it is never written, so no `"` must close it.
            if last and self._open and texts and not self._waits:
                texts[-1] += QUOTE
            self._file.write(" ".join((key, *texts)).encode() + b"\n")
        if last:
            self._open = self._waits = self._joins = False

    def _written(self, words: Sequence[str], names: Sequence[str]) -> list[str]:
        texts: list[str] = []
        for word, name in zip(words, names):
            label = self._labels[name]
            plain = label.write(word)
            bare = plain[len(label.opening):len(plain) - len(label.mark)]
            bare, mark = label.opening + self._casing.get(bare, bare), label.mark
            joined = bool(texts) and not self._waits and (self._joins or (word in self._clitics and word[-1:] != "'"))
            if self._waits:
                bare, self._waits = QUOTE + bare, False
            if name in self._quotes:
                self._open = not self._open
                self._waits = self._open
                mark = mark.replace(QUOTE, "") if self._open else mark
            elif name in self._ends and self._open:
                mark, self._open = mark + QUOTE, False
            self._joins = not mark and word in self._clitics and word[-1:] == "'"
            if joined:
                texts[-1] += bare + mark
            else:
                texts.append(bare + mark)
        return texts
