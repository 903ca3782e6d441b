"""What stands in a text but is not said: notes in brackets, names of speakers, times, headings, addresses, markup.

Each kind of it is counted, with its most frequent forms (`examples`). The option `clean` names the kinds to take out;
entities are decoded. Their words are counted, so words in are words out and words that were counted. What only looks
like one of a kind is counted too: people look at the forms and decide.
"""

import html
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from punc.base.errors import InputError
from punc.text.examples import note

KEPT, LEFT_OUT, DECODED = "perhaps no speech: ", "left out: ", "decoded: "  # then the kind
WORDS = "words left out: "
ENTITIES = "entities"
NESTED = 5  # brackets in brackets that are taken out
STAMP = r"\d{1,3}:\d{2}(?::\d{2}(?:[.,]\d{1,3})?|\.\d{1,3})"  # 00:00:43, 00:00:43.120, 03:54.1
UPPER = r"[^\W\d_a-z][\w.'’-]*"  # a word that begins with a capital
END_MARKS = ".,;:?!…-–—\"”’')"
DIGIT = re.compile(r"\d")
MOST_HEADING_WORDS = 10


class Kind(NamedTuple):
    """A kind of text that is not said.

    there    whether a text may have some: a quick test
    pattern  matches it, in a text that begins with a line end
    form     what is counted of a match: matches that differ in numbers only are the same
    sure     whether a match is one; by default, if it has a letter or a digit
    """

    there: Callable[[str], bool]
    pattern: re.Pattern[str]
    form: Callable[[str], str] = lambda text: DIGIT.sub("0", text.strip())
    sure: Callable[[str], bool] = lambda text: any(map(str.isalnum, text))


def has(*marks: str) -> Callable[[str], bool]:
    """The test whether a text has one of some strings."""
    return lambda text: any(mark in text for mark in marks)


def is_heading(text: str) -> bool:
    """Whether a line is a heading by its form: a prefix, capitals only, or no end mark and few words."""
    line = text.strip()
    if line[:1] in ("#", "="):
        return True
    words = line.split()
    if not words or len(words) > MOST_HEADING_WORDS:
        return False
    if sum(map(str.isupper, line)) == sum(map(str.isalpha, line)) > 2:
        return line[-1] not in END_MARKS or len(words) > 1
    return text[:2] == "\n\n" and line[-1] not in END_MARKS and not line[0].islower()


# In the order in which they are taken out: a decoded entity can be a tag, and a time in brackets stands before a name.
KINDS: dict[str, Kind] = {
    ENTITIES: Kind(has("&"), re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});"), str),
    "tags": Kind(has("<"), re.compile(r"</?[A-Za-z!][^<>\n]{0,200}>")),
    "urls": Kind(has("://", "www."), re.compile(r"(?:\b[A-Za-z]{2,6}://|\bwww\.)[^\s<>\[\]{}()\"“”]*[^\W_/]/?"),
                 lambda text: re.split(r"(?<=[^/:])/", text)[0]),
    "square-brackets": Kind(has("[", "［", "【"), re.compile(r"[\[［【][^\[\]［］【】]{0,200}[\]］】]")),
    "curly-brackets": Kind(has("{"), re.compile(r"\{[^{}]{0,200}\}")),
    "round-brackets": Kind(has("(", "（"), re.compile(r"(?:(?<!\w)\(|（)[^()（）]{0,200}[)）]")),
    "stars": Kind(has("*"), re.compile(r"(?<![\w*])\*(?![*\s])[^*\n]{1,80}(?<!\s)\*(?![\w*])")),
    "timestamps": Kind(lambda text: TIME.search(text) is not None, re.compile(
        rf"(?:(?<=\n)\d{{1,6}}[ \t]*\n)?(?<![^\s(\[]){STAMP}(?:\s*(?:-->|[-–])\s*{STAMP})?(?![^\s)\].,;:!?-])"
        r"|(?<=\n)[ \t]*\d{2,3}:\d{2}(?=\s|$)")),
    "speaker-labels": Kind(has(":"), re.compile(
        rf"\n[ \t]*(?:>>[ \t]*)?[*_]{{0,2}}{UPPER}(?:[ \t]+(?:{UPPER}|\d+)){{0,3}}[ \t]*(?::[*_]{{0,2}}|[*_]{{1,2}}:)"
        r"(?=\s|$)"), lambda text: text.strip(" \t\n>*_")),
    "headings": Kind(has("\n"), re.compile(r"(?:\n(?=\n))?\n[ \t]*(?:[#=][^\n]*(?=\n|$)|[^\na-z]{4,80}(?=\n|$)|"
                                           r"(?<=\n\n)[^\n]{1,80}(?=\n\n|\n?$))"), sure=is_heading),
}
TIME = re.compile(r":\d\d[:.]\d|\n[ \t]*\d\d\d?:\d\d\s")


class NotSpeech:
    """Counts what is not said, and takes out the kinds `clean`; `words` counts the words of a text."""

    def __init__(self, clean: tuple[str, ...], words: Callable[[str], int]):
        self._clean, self._words = frozenset(clean), words

    def read(self, text: str, counts: Counter[str], line_start: bool = True) -> str:
        """The text without what is taken out; line ends stay. `line_start`: whether it begins where a line does."""
        text = "\n" + text if line_start else text
        for name, kind in KINDS.items():
            if not kind.there(text):
                continue
            if name in self._clean:
                replace = partial(self._decode if name == ENTITIES else self._leave_out, name=name, counts=counts)
                for _ in range(NESTED if name.endswith("brackets") else 1):
                    new = kind.pattern.sub(replace, text)
                    if new == text:
                        break
                    text = new
            else:
                for match in filter(kind.sure, kind.pattern.findall(text)):
                    note(counts, KEPT + name, kind.form(match))
        return text[1:] if line_start else text

    def _leave_out(self, match: re.Match[str], name: str, counts: Counter[str]) -> str:
        kind, text = KINDS[name], match[0]
        if not kind.sure(text):
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
    """Names of kinds with commas between. Raises InputError for a name that is none."""
    kinds = tuple(filter(None, names.split(",")))
    for kind in kinds:
        if kind not in KINDS:
            raise InputError(f"--clean {kind}", f"name some of {', '.join(KINDS)}, with commas between")
    return kinds
