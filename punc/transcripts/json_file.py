"""Reads and writes JSON files: an object, a list, or several objects one after another, for example one per line."""

import json
import math
import re
from collections import Counter
from functools import cache
from typing import Any, NamedTuple

from punc.base.errors import InputError
from punc.transcripts import entities
from punc.transcripts.source import Source

BETWEEN = re.compile(r"[\s,]*")  # separates the documents of a file
INDENT = re.compile(r"[\[{]\s*\n([ \t]+)\S")
AFTER_NAME = re.compile(r'"\s*:(\s*)')
HUGE = re.compile(r"[eE]\+?[0-9]{2}")  # an exponent with which a number may be too large for float64
RAW = range(0xDC80, 0xDD00)  # the characters that a Source contains for bytes that are not UTF-8
# The first of the characters that stand for these bytes in this module. Lone surrogates cannot stand for them, because
# a JSON escape may be a lone surrogate, too.
OWN = 0x10FE00
BYTES = {number: OWN + number - RAW[0] for number in RAW}
BYTES_BACK = {own: number for number, own in BYTES.items()}
HALF = re.compile("[\ud800-\udfff]")
HTML = re.compile(r"<[A-Za-z]{1,20} [a-z-]{1,30}=[^<>]{0,200}>")  # a tag with attributes
MAY_BE_SPECIAL = ("&", "<|", "\\u", "\ufffd")  # a file without these strings has nothing to decode


class Style(NamedTuple):
    """How a file is written: the indentation of a level (None if all is on one line), the separators, and whether
    non-ASCII characters are escaped."""

    indent: str | None
    separators: tuple[str, str]
    ascii_only: bool

    @classmethod
    def of(cls, text: str) -> "Style":
        indent, after_name = INDENT.match(text), AFTER_NAME.search(text)
        compact = after_name is not None and not after_name[1]
        return cls(indent[1] if indent else None, ("," if indent or compact else ", ", ":" if compact else ": "),
                   text.isascii())

    def written(self, value: Any, level: int = 0) -> str:
        """Return the JSON of a value that is nested `level` levels deep. The fast encoder of `json` writes the
        innermost values."""
        if self.indent is None or not value or not isinstance(value, (dict, list)):
            return self._encoder(0).encode(value)
        inner = f"\n{self.indent * (level + 1)}"
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        members = value.values() if isinstance(value, dict) else value
        if any(isinstance(one, (dict, list)) for one in members):
            names = [f"{self._encoder(0).encode(key)}{self.separators[1]}" for key in value] if opening == "{" else []
            written = [self.written(one, level + 1) for one in members]
            text = f",{inner}".join(map("".join, zip(names, written)) if names else written)
        else:
            text = self._encoder(level + 1).encode(value)[1:-1]
        return f"{opening}{inner}{text}{inner[:len(inner) - len(self.indent)]}{closing}"

    @cache  # noqa: B019 - few styles, few levels
    def _encoder(self, level: int) -> json.JSONEncoder:
        comma, colon = self.separators
        return json.JSONEncoder(separators=(f",\n{self.indent * level}" if level and self.indent else comma, colon),
                                ensure_ascii=self.ascii_only)


class JsonDocument:
    """The JSON values of a file, in which texts can be replaced. The place of a text is a member of an object, or an
    element of a list."""

    rated = True

    def __init__(self, source: Source):
        self.values: list[Any] = []
        self.spots: list[tuple[Any, Any]] = []  # holder and key of each place
        self._path = source.path
        self._between: list[str] = []  # the characters before each value, and after the last value
        self._style = Style.of(source.text.lstrip())
        self._raw = source if not source.text.isascii() and HALF.search(source.text) else None
        self._may_be_special = any(part in source.text for part in MAY_BE_SPECIAL)
        self._read(source._replace(text=source.text.translate(BYTES)) if self._raw else source)

    def _read(self, source: Source) -> None:
        text = source.text
        decoder = json.JSONDecoder(object_pairs_hook=_members, parse_float=_finite if HUGE.search(text) else None)
        at = 0
        while True:
            gap = BETWEEN.match(text, at)
            assert gap
            self._between.append(gap[0])
            at = gap.end()
            if at == len(text):
                return
            value, at = self._decoded(decoder, source, at)
            self.values.append(value)

    def _decoded(self, decoder: json.JSONDecoder, source: Source, at: int) -> tuple[Any, int]:
        text = source.text
        again = "let the recogniser write it again"
        if text[at] not in "{[":
            what = "text after the JSON" if self.values else "text before the JSON"
            raise source.error(f"{what}: {text[at:at + 30]!r}", "remove it, if the rest is a whole file", at)
        try:
            return decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
            what = "the JSON is cut short" if cut else "not JSON"
            raise source.error(f"{what}: {error.msg} at column {error.colno}", again, error.pos) from None
        except RecursionError:
            raise source.error("values nested too deeply", again, at) from None
        except KeyError as error:  # raised by `_members`
            raise source.error(f"an object has the member '{error.args[0]}' twice", "keep one", at) from None
        except ValueError:  # raised by `_finite`, or for an integer with thousands of digits
            raise source.error("a number that is too large, or has thousands of digits", again, at) from None

    def place(self, holder: Any, key: Any) -> tuple[int, str]:
        """Add a place, and return its number and its text. Raises InputError for bytes that are not UTF-8, and for HTML
        with attributes, as in oTranscribe's files."""
        self.spots.append((holder, key))
        place, text = len(self.spots) - 1, holder[key]
        if self._raw and any(ord(char) in BYTES_BACK for char in text):
            raise self._raw.not_utf8(max(self._raw.text.find(text.translate(BYTES_BACK)), 0))
        if "<" in text and (found := HTML.search(text)):
            raise InputError(f"a text is HTML: {found[0][:60]}", "export it as plain text or subtitles", self._path)
        return place, entities.decoded(text) if self._may_be_special else text

    def put(self, place: int, text: str, probability: float = math.nan) -> None:
        """Put a text in a place. If the place is in an object, also store the probability of the word's label in the
        object."""
        holder, key = self.spots[place]
        holder[key] = entities.encoded(text, holder[key]) if self._may_be_special else text
        if probability == probability and isinstance(holder, dict):
            holder["label_probability"] = round(probability, 4)

    def content(self) -> str:
        """Return the new file, in the style of the old one. Raises InputError for values that are nested too deeply."""
        try:
            written = [self._style.written(value) for value in self.values]
        except RecursionError:
            raise InputError("values nested too deeply", "write the words alone", self._path) from None
        parts = [part for pair in zip(self._between, [*written, ""]) for part in pair if part]
        text = parts[0] if len(parts) == 1 else "".join(parts)
        if not self._style.ascii_only and HALF.search(text):
            text = HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", text)
        return text.translate(BYTES_BACK) if self._raw else text


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object from its members. Raises KeyError if two members have the same name."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise KeyError(Counter(name for name, _ in pairs).most_common(1)[0][0])
    return found


def _finite(text: str) -> float:
    """Read a number. Raises ValueError if it is too large, such as 1e999, which would be written as Infinity."""
    if math.isinf(number := float(text)):
        raise ValueError(text[:20])
    return number

