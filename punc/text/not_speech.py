"""Finds text that is not speech: notes in brackets, names of speakers, times, headings, URLs and markup.

Text of each kind is counted, and messages list its most frequent forms, so that people can decide what to remove. The
option `clean` lists the kinds to remove; the removed words are counted. With `entities` in the list, HTML entities such
as `&amp;` are decoded.
"""

import html
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from punc.base.errors import InputError
from punc.text.file_parts import found, note
from punc.transcripts.speakers import LONGEST, find_label

KEPT, LEFT_OUT, DECODED = "perhaps not speech: ", "left out: ", "decoded: "  # prefixes of the names of counts
WORDS = "words left out: "
ENTITIES = "entities"
STAMP = r"\d{1,3}:\d{2}(?::\d{2}(?:[.,]\d{1,3})?|\.\d{1,3})"  # 00:00:43, 00:00:43.120, 03:54.1
LINE, ANY = re.compile(r"\n([^\n]*)"), re.compile(r".*", re.DOTALL)
END_MARKS = ".,;:?!…-–—\"”’')"
ADDRESS = r"[^\s<>\[\]{}()\"“”]*[^\W_]/?"
DIGIT = re.compile(r"\d")
MOST_HEADING_WORDS = 10
MOST_NESTED = 20  # nested brackets are removed up to this depth


class Kind(NamedTuple):
    """A kind of text that is not speech.

    patterns  pairs of a fast test, which rules out most texts, and a pattern; if a text begins a line, the caller puts
              a line end before it
    form      returns the form under which a match is counted; by default, matches that differ only in their digits have
              the same form
    sure      returns whether a match is really of this kind; by default, it must contain a letter or a digit
    nested    whether one match can contain another, so that removal is repeated
    """

    patterns: tuple[tuple[Callable[[str], bool], "re.Pattern[str] | SpeakerLabels"], ...]
    form: Callable[[str], str] = lambda text: DIGIT.sub("0", text.strip())
    sure: Callable[[re.Match[str]], bool] = lambda match: any(map(str.isalnum, match[0]))
    nested: bool = True


def found_by(mark: str, pattern: str, probe: str = "") -> tuple[Callable[[str], bool], re.Pattern[str]]:
    test = re.compile(probe) if probe else None
    return lambda text: mark in text and (not test or test.search(text) is not None), re.compile(pattern)


def in_brackets(*pairs: tuple[str, str], condition: str = "") -> Kind:
    """Return a kind that matches text in brackets. `condition` is a pattern that must match after the opening
    bracket."""
    return Kind(tuple(found_by(begin, rf"\{begin}{condition}[^\{begin}\{end}]{{0,200}}\{end}") for begin, end in pairs))


def is_heading(match: re.Match[str]) -> bool:
    """Return whether a line is a heading: a line that begins with # or =, a short line in capitals, or a short line
    between empty lines that begins with a capital and does not end with a mark."""
    line = match[0].strip()
    if line[:1] in ("#", "="):
        return True
    words = line.split()
    if not words or len(words) > MOST_HEADING_WORDS:
        return False
    if sum(map(str.isupper, line)) == sum(map(str.isalpha, line)) > 2:
        return line[-1] not in END_MARKS or len(words) > 1
    return match.lastgroup == "alone" and line[-1] not in END_MARKS and line[0].isupper()


class SpeakerLabels:
    """Finds speaker labels in a text. The methods `finditer` and `sub` work like those of a compiled pattern."""

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Yield a match for each label at the beginning of a line. The match includes the line end before the label."""
        for line in LINE.finditer(text):
            label = find_label(line[1]) if ":" in line[1][:LONGEST] else None
            if label and label.name and label.sure:
                found = ANY.match(text, line.start(), line.start(1) + label.size)
                assert found
                yield found

    def sub(self, replace: Callable[[re.Match[str]], str], text: str) -> str:
        parts, at = [], 0
        for match in self.finditer(text):
            parts += [text[at:match.start()], replace(match)]
            at = match.end()
        return "".join([*parts, text[at:]])


# The order of removal matters: a decoded entity can be part of a tag, and a time in brackets can precede a name.
KINDS: dict[str, Kind] = {
    ENTITIES: Kind((found_by("&", r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});"),), str),
    "tags": Kind((found_by("<", r"</?[A-Za-z!][^<>\n]{0,200}>"),)),
    "urls": Kind((found_by("://", rf"\b[A-Za-z]{{2,6}}://{ADDRESS}"), found_by("www.", rf"www\.{ADDRESS}")),
                 lambda text: re.split(r"(?<=[^/:])/", text)[0]),
    "square-brackets": in_brackets(("[", "]"), ("［", "］"), ("【", "】")),
    "curly-brackets": in_brackets(("{", "}")),
    "round-brackets": in_brackets(("(", ")"), ("（", "）"), condition=r"(?<!\w\()"),  # not `member(s)`
    "stars": Kind((found_by("*", r"\*(?<![\w*]\*)(?![*\s])[^*\n]{1,80}(?<!\s)\*(?![\w*])"),)),
    "timestamps": Kind((
        found_by(":", rf"(?:(?<=\n)\d{{1,6}}[ \t]*\n)?(?<![^\s(\[]){STAMP}(?:\s*(?:-->|[-–])\s*{STAMP})?"
                      r"(?![^\s)\].,;:!?-])", probe=r":\d\d[:.]\d"),
        found_by(":", r"\n[ \t]*\d{2,3}:\d{2}(?=\s|$)")), nested=False),
    "speaker-labels": Kind(((lambda text: ":" in text, SpeakerLabels()),), lambda text: text.strip(" \t\n>*_"),
                           nested=False),  # `ANN: Look: it works` has one
    "headings": Kind((found_by(
        "\n", r"\n(?:[ \t]*[#=][^\n]*(?=\n|$)|(?P<alone>(?<=\n\n)[^\n]{1,80}(?=\n\n))|[^\na-z]{4,80}(?=\n|$))"),),
        sure=is_heading, nested=False),
}


class NotSpeech:
    """Counts text that is not speech, and removes text of the kinds in `clean`. `words(text)` returns the number of
    words in a text."""

    def __init__(self, clean: tuple[str, ...], words: Callable[[str], int]):
        self._clean, self._words = frozenset(clean), words

    def read(self, text: str, counts: Counter[str], line_start: bool = True) -> str:
        """Return the cleaned text, with its line ends. `line_start`: whether the text begins a line."""
        text = "\n" + text if line_start else text
        for name, kind in KINDS.items():
            replace = partial(self._decode if name == ENTITIES else self._leave_out, name=name, counts=counts)
            for there, pattern in kind.patterns:
                if not there(text):
                    continue
                if name not in self._clean:
                    for match in filter(kind.sure, pattern.finditer(text)):
                        note(counts, KEPT + name, kind.form(match[0]))
                    continue
                for _ in range(MOST_NESTED if kind.nested else 1):
                    before, text = text, pattern.sub(replace, text)
                    if text == before:
                        break
        return text[1:] if line_start else text

    def _leave_out(self, match: re.Match[str], name: str, counts: Counter[str]) -> str:
        kind, text = KINDS[name], match[0]
        if not kind.sure(match):
            return text
        note(counts, LEFT_OUT + name, kind.form(text))
        counts[WORDS + name] += self._words(text)
        return "\n" * text.count("\n") or " "

    @staticmethod
    def _decode(match: re.Match[str], name: str, counts: Counter[str]) -> str:
        text = " ".join(html.unescape(match[0]).split("\n")) or " "
        note(counts, (KEPT if text == match[0] else DECODED) + name, match[0])
        return text


def parse_kinds(names: str) -> tuple[str, ...]:
    """Return the kinds in a list of names separated by commas. Raises InputError for an unknown name."""
    kinds = tuple(filter(None, names.split(",")))
    for kind in kinds:
        if kind not in KINDS:
            raise InputError(f"--clean does not know '{kind}'", f"name some of {', '.join(KINDS)}, with commas between")
    return kinds


def messages(counts: Counter[str]) -> Iterator[str]:
    """Yield messages about repairs to a text, and about text that is not speech."""
    for repair in sorted(counts):
        if "\t" not in repair and not repair.startswith(WORDS):
            yield f"repaired: {counts[repair]:,} {repair}"
    for what, total, forms in found(counts):
        kind = what.rpartition(": ")[2]
        words = f", {counts[WORDS + kind]:,} words" if WORDS + kind in counts else ""
        action = "decodes them" if kind == ENTITIES else "leaves them out"
        remedy = f"; --clean {kind} {action}" if what == KEPT + kind else ""
        yield f"{what.removesuffix(kind)}{total:,} {kind}{words}: {forms}{remedy}"
