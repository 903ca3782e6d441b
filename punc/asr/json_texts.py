"""Texts with words anywhere in a recogniser's JSON: a format says where by handlers that contain one another."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from punc.asr.document import Document, Source
from punc.asr.json_document import copied_texts, json_name, json_number, texts_document
from punc.asr.json_walk import Handler, JsonWalk
from punc.asr.json_words import JsonSegment, string_member
from punc.base.runs import starts_of_runs

BLANK, QUOTE, BRACKETS = ord(" "), ord('"'), np.frombuffer(b"[({<", np.uint8)


class Facts(NamedTuple):
    """What is said of a text; values of other types than these are not known.

    begin, end  numbers, in seconds
    confidence  a number
    speaker     a name
    joined      the text goes on the word before, as a mark
    """

    begin: Any = None
    end: Any = None
    confidence: Any = None
    speaker: Any = None
    joined: bool = False


def plain_facts(value: Mapping[str, Any]) -> Facts:
    """`start`, `end`, `confidence` and `speaker`, as most have them."""
    return Facts(value.get("start"), value.get("end"), value.get("confidence"), value.get("speaker"))


class JsonTexts:
    """Finds texts in the JSON documents of a file.

    A handler is given the byte where a value begins, and returns the byte after it; values that are not of the kind
    that it looks for are skipped. Its methods raise InputError for what is no JSON.
    """

    def __init__(self, source: Source):
        self._source, self._walk = source, JsonWalk(source)
        self._recordings: list[str] = []  # their names; each is a stream
        self._texts: list[tuple[Facts, tuple[int, int], int]] = []  # with its bytes and its recording, as in the file
        self._copies: dict[str, list[tuple[int, int]]] = {}

    def each(self, handler: Handler) -> Handler:
        """Every element of a list."""
        return lambda at: self._walk.elements(at, handler)

    def first(self, handler: Handler) -> Handler:
        """The first element of a list."""
        def read(at: int) -> int:
            rest = iter((handler,))
            return self._walk.elements(at, lambda at: next(rest, self._walk.skip)(at))

        return read

    def one_or_each(self, handler: Handler) -> Handler:
        """A value, or every element if it is a list."""
        return lambda at: self._walk.elements(at, handler) if self._begins("[", at) else handler(at)

    def both(self, first: Handler, second: Handler) -> Handler:
        """A value for two handlers."""
        return lambda at: (first(at), second(at))[1]

    def members(self, handlers: Mapping[str, Handler]) -> Handler:
        """Some members of an object."""
        return lambda at: self._walk.members(at, handlers) if self._begins("{", at) else self._walk.skip(at)

    def either(self, choose: Callable[[Mapping[str, Any]], Handler]) -> Handler:
        """An object, for whose value there is a handler."""
        def read(at: int) -> int:
            value, end = self._walk.value(at)
            return choose(value)(at) if isinstance(value, dict) else end

        return read

    def listed(self, words: str, timed: Handler, text: str) -> Handler:
        """An object that `timed` reads if its member `words` has any; else its member `text` has the words."""
        bare = self.text(text)
        return self.either(lambda value: timed if value.get(words) else bare)

    def recording(self, handler: Handler, name: str = "", part: str = "") -> Handler:
        """A value that is a recording, or a part of one.

        name  the member that says how it is called
        part  a member that only parts have; parts of one name that follow one another are one recording
        """
        def read(at: int) -> int:
            value = self._walk.value(at)[0] if name else {}
            members = value if isinstance(value, dict) else {}
            called = members.get(name)
            called = "_".join(json_name(called).split()) if isinstance(called, str) else ""
            if part not in members or self._recordings[-1:] != [called]:
                self._recordings.append(called)
            return handler(at)

        return read

    def text(self, name: str, facts: Callable[[Mapping[str, Any]], Facts] = lambda _: Facts()) -> Handler:
        """An object whose member `name` is a word, or several; `facts` finds what the object says of it."""
        member = string_member(name)

        def read(at: int) -> int:
            value, after = self._walk.value(at)
            if not isinstance(value, dict) or not isinstance(value.get(name), str):
                return after
            spans = [found.span(1) for found in member.finditer(self._source.data, at, after)]
            if len(spans) != 1 or self._walk.text[slice(*spans[0])] != value[name]:  # others have the name, or escapes
                spans.clear()
                self._walk.members(at, {name: lambda at: self._walk.string(at, spans)})
            self._recordings = self._recordings or [""]
            self._texts.append((facts(value), spans[-1], len(self._recordings) - 1))
            return after

        return read

    def copy(self, name: str) -> Handler:
        """A string that repeats words; those of one name are a text, one after another."""
        return lambda at: self._walk.string(at, self._copies.setdefault(name, []))

    def document(self, name: str, handler: Handler, blanks: bool = False) -> Document:
        """The document of a format, whose JSON documents `handler` reads.

        blanks  if texts begin with a blank, those that have none go on the word before
        """
        self._walk.documents(handler)
        del self._walk  # its text takes as much memory as the file
        segments = [JsonSegment(said.begin, said.end, said.speaker, span) for said, span, _ in self._texts]
        found = texts_document(self._source, name, segments, range(len(segments)))
        of = np.array([recording for *_, recording in self._texts], np.int64)[found.segments]
        confidences = [json_number(said.confidence) for said, *_ in self._texts]
        goes_on = np.array([said.joined for said, *_ in self._texts], bool)[found.segments]
        found = found._replace(joined=_goes_on(found, of) if blanks else goes_on & _first(found, of),
                               streams=of, recording=of, confidences=np.array(confidences, float)[found.segments],
                               recordings=[name or str(i) for i, name in enumerate(self._recordings, 1)]
                               if len(self._recordings) > 1 else self._recordings or [""])
        return found._replace(copies=copied_texts(self._source, found, [*self._copies.values()]))

    def _begins(self, char: str, at: int) -> bool:
        return self._walk.text.startswith(char, at)


def _goes_on(found: Document, of: np.ndarray) -> np.ndarray:
    """Which words go on the word before, bool (N,): no blank begins their texts, and no bracket."""
    data = np.frombuffer(found.data, np.uint8)
    before = data[found.starts - 1]
    first = _first(found, of)
    if not (before[first] == BLANK).any():
        return np.zeros(len(of), bool)
    return first & (before == QUOTE) & ~np.isin(data[found.starts], BRACKETS)


def _first(found: Document, of: np.ndarray) -> np.ndarray:
    """Which words are the first of their text, and not of their recording, bool (N,)."""
    return starts_of_runs(found.segments) & ~starts_of_runs(of)
