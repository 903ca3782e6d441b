"""Files of JSON: an object, a list, or several objects one after another, as a line each."""

import json
import math
import re
from typing import Any, NamedTuple

from punc.base.errors import InputError
from punc.transcripts.source import Source

BETWEEN = re.compile(r"[\s,]*")  # documents of a file
INDENT = re.compile(r"[\[{]\s*\n([ \t]+)\S")
COMPACT = re.compile(r'"\s*:(?=[^\s])')
HUGE = re.compile(r"\d[eE]\+?\d{3}")  # a number that may be infinite


class Style(NamedTuple):
    """How a file is written: the blanks of a level, if each member has a line, and what separates members."""

    indent: str | None
    separators: tuple[str, str]
    ascii_only: bool

    @classmethod
    def of(cls, text: str) -> "Style":
        """The style of a file."""
        indent = INDENT.match(text)
        compact = COMPACT.search(text) is not None
        return cls(indent[1] if indent else None, ("," if indent or compact else ", ", ":" if compact else ": "),
                   text.isascii())


class JsonDocument:
    """The values of a file. A place is a member of an object, or an element of a list."""

    rated = True

    def __init__(self, source: Source):
        self.values: list[Any] = []
        self._between: list[str] = []  # what stands before each value, and at the end
        self._style = Style.of(source.text.lstrip())
        self._spots: list[tuple[Any, Any]] = []
        self._read(source)

    def _read(self, source: Source) -> None:
        decoder = json.JSONDecoder(object_pairs_hook=_members)
        text, at = source.text, 0
        while True:
            gap = BETWEEN.match(text, at)
            assert gap
            self._between.append(gap[0])
            at = gap.end()
            if at == len(text):
                break
            try:
                value, at = decoder.raw_decode(text, at)
            except json.JSONDecodeError as error:
                raise source.error(f"not JSON, or only a part of it: {error.msg}", "let the recogniser write it again",
                                   error.pos) from None
            except RecursionError:
                raise source.error("values too deep inside of others", "let the recogniser write it again",
                                   at) from None
            except _Twice as error:
                raise source.error(f"an object has the member '{error}' twice", "keep one", at) from None
            self.values.append(value)
        if HUGE.search(text):
            for value in self.values:
                _check_finite(value, source)

    def place(self, holder: Any, key: Any) -> int:
        """A new place: the member `key` of an object, or the element of a list."""
        self._spots.append((holder, key))
        return len(self._spots) - 1

    def put(self, place: int, text: str, probability: float = math.nan) -> None:
        """Put a text in a place; the object of a word gets the probability of its label."""
        holder, key = self._spots[place]
        holder[key] = text
        if probability == probability and isinstance(holder, dict):
            holder["label_probability"] = round(probability, 4)

    def content(self) -> str:
        """The file, in the style that it had."""
        indent, separators, ascii_only = self._style
        written = [json.dumps(value, indent=indent, separators=separators, ensure_ascii=ascii_only)
                   for value in self.values]
        return "".join(part for pair in zip(self._between, [*written, ""]) for part in pair)


class _Twice(Exception):
    """An object has two members of one name."""


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise _Twice(next(name for name in found if names.count(name) > 1))
    return found


def _check_finite(value: Any, source: Source) -> None:
    """Raise InputError for a number that no program can hold, as 1e999: it would be written as Infinity."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, (dict, list)):
            waiting += one.values() if isinstance(one, dict) else one
        elif isinstance(one, float) and math.isinf(one) and "Infinity" not in source.text:
            raise InputError("a number that is too large", "let the recogniser write it again", source.path)
