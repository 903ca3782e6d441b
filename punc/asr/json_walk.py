"""Walks through JSON without making objects of all of it: where each member and each element begins.

The text is the file's bytes as Latin-1, so that indices are bytes and the parser of the standard library, in C, reads
values from any place. Strings that are read so are only compared; `Source.data` has their bytes.
"""

import json
import re
from collections.abc import Callable, Mapping
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, NamedTuple

from punc.asr.document import Source
from punc.base.errors import InputError

STRING = rb'"([^"\\]*(?:\\.[^"\\]*)*)"'
ONE_STRING = re.compile(STRING)
WHITE, COMMA = re.compile(r"[ \t\n\r]*"), re.compile(r"[ \t\n\r]*,[ \t\n\r]*")
Handler = Callable[[int], int]  # the byte where a value begins → the byte after it


class Element(NamedTuple):
    """An element of a list: its value, the byte where it begins, and the byte after it."""

    value: Any
    start: int
    stop: int


class JsonWalk:
    """JSON documents of a file, one after another."""

    def __init__(self, source: Source):
        self.source, self.text = source, source.data.decode("latin-1")
        self._scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]

    def documents(self, handler: Handler) -> None:
        """Call `handler` for each document. Raises InputError for what is no JSON."""
        at = self._next(0)
        while at < len(self.text):
            at = self._next(self._guard(handler, at))

    def value(self, at: int) -> tuple[Any, int]:
        """The value at a byte, and the byte after it."""
        return self._guard(self._scan, self.text, at)

    def skip(self, at: int) -> int:
        """The byte after a value."""
        return self.value(at)[1]

    def string(self, at: int, spans: list[tuple[int, int]]) -> int:
        """Add the bytes of the string at a byte, without its quotes, to `spans`; other values are skipped."""
        if found := ONE_STRING.match(self.source.data, at):
            spans.append(found.span(1))
        return self.skip(at)  # which checks its escapes

    def members(self, at: int, handlers: Mapping[str, Handler]) -> int:
        """Walk through the object at a byte; members without a handler are skipped."""
        at = self._next(at + 1)
        if self.text[at:at + 1] == "}":
            return at + 1
        while True:
            if self.text[at:at + 1] != '"':
                raise self.broken(at)
            key, at = self._guard(scanstring, self.text, at + 1)
            at = self._next(at)
            if self.text[at:at + 1] != ":":
                raise self.broken(at)
            at = self._next(handlers.get(key, self.skip)(self._next(at + 1)))
            if self.text[at:at + 1] == "}":
                return at + 1
            if self.text[at:at + 1] != ",":
                raise self.broken(at)
            at = self._next(at + 1)

    def elements(self, at: int, handler: Handler) -> int:
        """Walk through the list at a byte; what is no list is skipped."""
        if self.text[at:at + 1] != "[":
            return self.skip(at)
        at = self._next(at + 1)
        if self.text[at:at + 1] == "]":
            return at + 1
        while True:
            at = self._next(handler(at))
            if self.text[at:at + 1] == "]":
                return at + 1
            if self.text[at:at + 1] != ",":
                raise self.broken(at)
            at = self._next(at + 1)

    def blocks(self, at: int, size: int, handler: Callable[[list[Element]], None]) -> int:
        """Walk through the list at a byte, whose elements come in blocks of about `size` bytes; others are skipped."""
        if self.text[at:at + 1] != "[" or self.text.startswith("]", self._next(at + 1)):
            return self.skip(at)
        end = self._next(self._guard(self._blocks, self._next(at + 1), size, handler))
        if self.text[end:end + 1] != "]":
            raise self.broken(end)
        return end + 1

    def _blocks(self, at: int, size: int, handler: Callable[[list[Element]], None]) -> int:
        """The byte after the last of the elements that begin at a byte."""
        block: list[Element] = []
        while True:
            value, end = self._scan(self.text, at)
            block.append(Element(value, at, end))
            comma = COMMA.match(self.text, end)
            if not comma or end - block[0].start > size:
                handler(block)
                block = []
            if not comma:
                return end
            at = comma.end()

    def broken(self, at: int) -> InputError:
        """The error of a byte that JSON does not allow."""
        what = "the JSON is cut short" if at >= len(self.text) else "not JSON"
        return self.source.error(f"{what} at byte {at + 1}", "let the recogniser write it again", at)

    def _next(self, at: int) -> int:
        """The byte after blanks."""
        return WHITE.match(self.text, at).end()  # type: ignore[union-attr]

    def _guard(self, function: Callable, *arguments: Any) -> Any:
        """Call a function; errors of the parser become InputErrors."""
        try:
            return function(*arguments)
        except StopIteration as error:
            raise self.broken(error.value) from None
        except json.JSONDecodeError as error:
            # A string that does not end is named by where it begins.
            raise self.broken(len(self.text) if error.msg.startswith("Unterminated") else error.pos) from None
        except RecursionError:
            raise InputError("lists within lists, too deep to read", "let the recogniser write it again",
                             self.source.path) from None
        except ValueError:  # of Python's int
            raise InputError("a number of thousands of digits", "let the recogniser write it again",
                             self.source.path) from None
