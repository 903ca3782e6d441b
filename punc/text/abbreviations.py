"""Decides whether a sentence ends at the dot of an abbreviation, an initial or a number, or at an ellipsis.

A file, such as `abbreviations.txt` in this directory, gives the kind of each abbreviation; `KINDS` lists the kinds. It
also lists words of the kinds `begins` (they often begin sentences) and `ordinal`. The kind and the next word (ignoring
quotes and brackets before it) decide whether a sentence ends at the dot. If so, the dot is a mark. The rules:

- After an abbreviation of the kind `never`, no sentence ends. After `starter`, a sentence ends before a capitalised
  word of the kind `begins`; after `capital`, before any capitalised word. (Initials such as `J.` do not count as
  capitalised words.) After `number`, a sentence ends unless a number follows. After `word`, the dot is always a mark.
- Single letters, and letters with dots inside, are of the kind `starter` unless the file gives them another kind.
- After a number in digits, a sentence ends unless a lower-case word or a word of the kind `ordinal` follows (24.
  veebruar). After an ellipsis (`...` or `. . .`), a sentence ends unless a lower-case word follows.
- If a mark follows the dot of an abbreviation (`Inc., the`), the dot is not a mark, unless the kind is `number` or
  `word`. If lines are utterances, `starter` counts as `capital` at the end of a line. At the end of a stream, the
  sentence ends, except after `never`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from punc.base.errors import InputError, StrPath
from punc.base.files import atomic_file, read_lines
from punc.text.file_parts import note
from punc.text.prose import READ_ALOUD

NEVER, STARTER, CAPITAL, NUMBER, WORD, BEGINS, ORDINAL = KINDS = (
    "never", "starter", "capital", "number", "word", "begins", "ordinal")
DIGITS, ELLIPSIS = "digits", "ellipsis"  # kinds that are recognised by the form of the token
OF_WORDS = frozenset((BEGINS, ORDINAL))  # kinds of words without a dot
NO_MARK = "dots that are not marks"
MARK = "dots of abbreviations, numbers and ellipses that are marks"
LETTERS = re.compile(r"[^\W\d_]{1,3}(?:\.[^\W\d_]{1,3})+|[^\W\d_]")  # matches U.S, e.g, Ph.D and E
# A prefix, the core, dots, and a suffix. Each part can begin and end in only one place, so matching takes linear time.
DOTTED = re.compile(r"(\W*)(\w(?:.*\w)?)([.…]+)(?![.…])(\W*)", re.DOTALL)
ALONE = re.compile(r"\.{2,}|…+")
WITH_BLANKS = re.compile(r"\.(?: \.){2,}")
INNER_ELLIPSIS = re.compile(r"(?<=\w)(?:\.{2,}(?!\.)|…)(?=\W*([^\W_]))")
NOT_A_MARK = "\x1f"  # replaces an ellipsis inside a token; label sets read this character as a space
MARKS = frozenset(",:;?!.…-–—")
INITIAL = re.compile(r"\W*[^\W\d_]\.")
FIRST_WORD = re.compile(r"[^\W_]+")
REACH = 3  # the maximum number of tokens after a dot that are read to find the next word


class Dot(NamedTuple):
    """A dot that is perhaps not a mark: its kind, its name in messages, and its token without the dot."""

    kind: str
    name: str
    bare: str


class Abbreviations:
    """The words in a file of abbreviations, by kind. Raises InputError for an abbreviation with two kinds."""

    def __init__(self, words: Mapping[str, Iterable[str]], path: StrPath | None = None):
        self.kinds: dict[str, str] = {}
        for kind in KINDS:
            for word in words.get(kind, ()) if kind not in OF_WORDS else ():
                if self.kinds.setdefault(word, kind) != kind:
                    raise InputError(f"'{word}' is of two kinds, {self.kinds[word]} and {kind}", "remove one", path)
        self.keep_dot = frozenset(word for word, kind in self.kinds.items() if kind in (NEVER, STARTER, CAPITAL))
        self.begins = frozenset(words.get(BEGINS, ()))
        self.ordinals = frozenset(words.get(ORDINAL, ()))

    @classmethod
    def read(cls, path: StrPath) -> "Abbreviations":
        """Read a file. Raises InputError for an invalid line, and for an abbreviation with two kinds."""
        words: dict[str, list[str]] = {}
        for number, line in read_lines(path):
            kind, *given = line.split()
            if kind not in KINDS or not given:
                raise InputError(f"not a line of abbreviations: '{line[:40]}'",
                                 f"write one of {', '.join(KINDS)}, and words", path, number)
            for word in given:
                if word != word.lower() or word.endswith(".") == (kind in OF_WORDS):
                    form = "without" if kind in OF_WORDS else "with"
                    raise InputError(f"'{word}' of the kind {kind}", f"write it in lower case, {form} its dot", path,
                                     number)
            words.setdefault(kind, []).extend(given)
        return cls(words, path)

    def dot(self, token: str) -> Dot | None:
        """Return the dot of a token if the dot is perhaps not a mark; otherwise None."""
        if "." not in token and "…" not in token:
            return None
        inner = INNER_ELLIPSIS.sub(lambda found: NOT_A_MARK if found[1].islower() else found[0], token)
        if inner != token:
            return Dot(NEVER, "...", inner)
        if ALONE.fullmatch(token):
            return Dot(ELLIPSIS, "...", NOT_A_MARK)
        found = DOTTED.fullmatch(token)
        if not found:
            return None
        lead, core, dots, rest = found.groups()
        bare, word = lead + core + rest, f"{core.lower()}."
        if dots != ".":
            return Dot(ELLIPSIS, "...", bare)
        if core.isdigit():
            return Dot(DIGITS, "numbers", bare)
        unit = not set(lead).isdisjoint(READ_ALOUD)  # as in 30 °C.
        kind = self.kinds.get(word) or (STARTER if LETTERS.fullmatch(core) and not unit else WORD)
        if kind == WORD:
            return None
        return Dot(NEVER if kind != NUMBER and not MARKS.isdisjoint(rest) else kind, word, bare)

    def before_number(self, word: str) -> bool:
        """Return whether a number after a word with a dot belongs to the word: `art. 5`, but not `5 p.m. 300 came`."""
        dot = self.dot(word)
        return dot is None or dot.kind in (NEVER, NUMBER)

    def ends(self, dot: Dot, following: Iterable[str], line_end: bool = False) -> bool | None:
        """Return whether a sentence ends at a dot; None if the next tokens, `following`, do not decide it. At most
        REACH tokens are needed. `line_end`: whether the dot ends a line."""
        if dot.kind == NEVER:
            return False
        kind = CAPITAL if line_end and dot.kind == STARTER else dot.kind
        for token in following:
            if found := FIRST_WORD.search(token):
                return self._ends_before(kind, found[0], bool(INITIAL.fullmatch(token)))
            if not MARKS.isdisjoint(token):
                return kind in (NUMBER, DIGITS)
        return None

    def _ends_before(self, kind: str, word: str, initial: bool) -> bool:
        if kind == NUMBER:
            return not word[0].isdigit()
        if kind == DIGITS:
            return not (word[0].islower() or word.lower() in self.ordinals)
        if kind == ELLIPSIS:
            return not word[0].islower()
        return word[0].isupper() and not initial and (kind == CAPITAL or word.lower() in self.begins)


def count_dot(dot: Dot, ends: bool, counts: Counter[str]) -> None:
    note(counts, MARK if ends else NO_MARK, dot.name)


@lru_cache(1)
def shipped() -> Abbreviations:
    return Abbreviations.read(Path(__file__).parent / "abbreviations.txt")


def write_abbreviations(path: StrPath, words: Mapping[str, Iterable[str]], about: str) -> None:
    """Write a file that `Abbreviations.read` can read: first the comment `about`, then a line `KIND WORD` for each
    word."""
    with atomic_file(path) as file:
        file.write(f"# {about}\n")
        file.writelines(f"{kind} {word}\n" for kind in KINDS for word in words.get(kind, ()))
