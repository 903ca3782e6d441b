"""Converts live input to items: words, with their times if known, partial results, and ends of utterances and streams.

Kinds of input:

    words  words separated by spaces; a line end ends an utterance
    ctm    lines of a CTM; a new id or channel begins a new stream (`transcripts.ctm`)
    json   one object per line, or spread over several lines as Vosk writes it:
             {"word": "hello", "start": 0.31, "end": 0.52, …}      a word; times in seconds
             {"result": [{"word": …}, …], "text": "hello you"}     a final result of Vosk, which is an utterance
             {"text": "hello you"}                                 a final result without times
             {"alternatives": [{"text": …}, …]}                    several alternative results; the first one is used
             {"partial": "hell"}                                   a partial result of Vosk; its words may still change
             {"text": "hell", "is_final": false}                   a partial result of sherpa-onnx
             {"utterance_end": true}, {"eof": 1}                   the end of an utterance, and the end of a stream

In input of every kind, an empty line ends a stream. The Vosk messages are the output of `Result`, `PartialResult` and
`FinalResult` (github.com/alphacep/vosk-api, src/vosk_api.h). vosk-server's clients send `{"eof": 1}`.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from typing import Any, NamedTuple

from punc.base.errors import InputError
from punc.data.datadir import LATEST
from punc.transcripts.ctm import CTM_SILENCE, CtmLine, ctm_rows

INPUTS = ("words", "ctm", "json")
BLANKS = " \t\n\r\v\f"
WORD = re.compile(r"[^ \t\n\r\v\f]+")
NUMBER = r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+"
CTM_LINE = re.compile(rf"[ \t]*\S+[ \t]+\S[ \t]+(?:{NUMBER})[ \t]+(?:{NUMBER})[ \t]+\S+"
                      rf"(?:[ \t]+(?:NA|{NUMBER})(?:[ \t].*)?)?[ \t\r]*")
# Matches the beginning of a line that may become a CTM line.
CTM_BEGIN = re.compile(r"[ \t]*\S*(?:[ \t]+\S?(?:[ \t]+[0-9.]*(?:[ \t]+[0-9.]*(?:[ \t].*)?)?)?)?")
LONGEST_LINE = 1000  # characters; a longer line is not a CTM line


class LiveWord(NamedTuple):
    """A word as received. `begin` and `end` are in seconds, NaN if unknown."""

    word: str
    begin: float = math.nan
    end: float = math.nan
    fields: Mapping[str, Any] = {}  # JSON: the word's members other than word and valid times; CTM: id, channel, conf
    # in the last word of a Vosk result: the result's members other than `result` and `text`
    result: Mapping[str, Any] = {}


class Partial(NamedTuple):
    """Words that may still change. An empty text shows that nobody is speaking."""

    text: str


class End(Enum):
    """The end of an utterance or a stream."""

    UTTERANCE = "utterance"
    STREAM = "stream"


Item = LiveWord | Partial | End


def kind_of(text: str, whole: bool) -> str | None:
    """Return the kind of an input that begins with `text`, or None if more text is needed. `text` must not be blank.
    With `whole`, the kind is decided without more text, so it is never None."""
    text = text.lstrip(BLANKS)
    # An array of objects is refused as JSON, not read as words.
    if text.startswith("{") or (text.startswith("[") and text[1:].lstrip(BLANKS).startswith("{")):
        return "json"
    if not whole and len(text) <= LONGEST_LINE and text.rstrip(BLANKS) == "[":
        return None
    line, end, _ = text.partition("\n")
    if line.startswith(";;"):  # a comment in NIST's CTM format
        return "ctm"
    # This limit also holds for complete lines, so that the kind does not depend on how the text is cut into pieces.
    if len(line) > LONGEST_LINE:
        return "words"
    if end or whole:
        return "ctm" if CTM_LINE.fullmatch(line) else "words"
    return None if CTM_BEGIN.fullmatch(line) else "words"


class ItemReader:
    """Reads text in pieces of any size. In input of the kind `words`, a word is complete at the next space; all other
    items are complete at a line end. Bad lines are left out. `kind`: one of INPUTS, or None to detect the kind from the
    first line that is not blank."""

    def __init__(self, source: str, kind: str | None = None):
        self.kind, self._ctm, self._json = kind, CtmReader(source), JsonReader(source)
        self._rest: list[str] = []  # the pieces of an incomplete word or line
        self._number, self._in_line = 0, False
        self._errors: list[InputError] = []

    def take_errors(self) -> list[InputError]:
        """Return the errors of lines that were left out since the last call."""
        errors, self._errors = self._errors, []
        return errors

    def feed(self, text: str, whole: bool = False) -> list[Item]:
        """Return the items that the next piece completes. `whole`: detect the kind now, even from part of a line."""
        if self.kind is None:
            text, self._rest = "".join([*self._rest, text]), []
            self.kind = kind_of(text, whole) if text.strip(BLANKS) else None
            if self.kind is None:
                self._rest = [text]
                return []
        return self._of_words(text) if self.kind == "words" else self._of_lines(text)

    def end(self) -> list[Item]:
        """End the input. Return the items of the incomplete word, line or object at its end."""
        items = self.feed("", whole=True)
        if rest := "".join(self._rest):
            self._rest = []
            items += [LiveWord(rest)] if self.kind == "words" else self._of_lines(rest + "\n")
        return items + (self._checked(self._json.end) if self.kind == "json" else [])

    def _cut(self, text: str, ends: str) -> str:
        """Append `text` to the kept text. Return everything up to the last character that is in `ends`, and keep the
        rest for the next call."""
        cut = max(map(text.rfind, ends)) + 1
        if not cut:
            self._rest.append(text)
            return ""
        whole = "".join([*self._rest, text[:cut]])
        self._rest = [text[cut:]] if cut < len(text) else []
        return whole

    def _of_words(self, text: str) -> list[Item]:
        items: list[Item] = []
        for number, line in enumerate(self._cut(text, BLANKS).split("\n")):
            if number:
                items.append(End.UTTERANCE if self._in_line else End.STREAM)  # an empty line ends a stream
                self._in_line = False
            words = WORD.findall(line)
            items += map(LiveWord, words)
            self._in_line = self._in_line or bool(words)
        return items

    def _of_lines(self, text: str) -> list[Item]:
        items: list[Item] = []
        reader = self._ctm if self.kind == "ctm" else self._json
        for line in self._cut(text, "\n").split("\n")[:-1]:
            self._number += 1
            items += self._checked(partial(reader.read, line, self._number))
        return items

    def _checked(self, read: Callable[[], list[Item]]) -> list[Item]:
        try:
            return read()
        except InputError as error:
            self._errors.append(error)
            return []


class CtmReader:
    """Reads the lines of a CTM as they arrive."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._stream: tuple[str, str] | None = None
        self._later = False  # whether the lines belong to a second or later alternative

    def read(self, line: str, number: int) -> list[Item]:
        """Return the items of a line. Raises InputError for an invalid line."""
        columns = WORD.findall(line)
        if not columns:
            return [End.STREAM]
        if columns[4:5] in (["<ALT_BEGIN>"], ["<ALT>"], ["<ALT_END>"]):
            self._later = columns[4] == "<ALT>"
            return []
        if len(columns) < 5 and not columns[0].startswith(";;"):
            raise InputError(f"{len(columns)} columns", "write: id channel begin duration word", self._source, number)
        items: list[Item] = []
        for row, _, _ in () if self._later else ctm_rows([CtmLine(self._source, number, " ".join(columns))]):
            if self._stream not in (None, row[:2]):
                items.append(End.STREAM)
            self._stream = row[:2]
            if row.word not in CTM_SILENCE:
                fields = {} if row.confidence is None else {"conf": row.confidence}
                items.append(LiveWord(row.word, row.begin, round(row.begin + row.duration, 6),
                                      {**fields, "id": row.id, "channel": row.channel}))
        return items


class JsonReader:
    """Reads JSON as it arrives: one object per line, or one object between the lines `{` and `}`, as Vosk writes it."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._begun: list[str] = []  # the lines of an incomplete object
        self._first = 0  # the number of the first line in `_begun`

    def read(self, line: str, number: int) -> list[Item]:
        """Return the items that a line completes. Raises InputError like `read_json`, and for an incomplete object."""
        line = line.rstrip(BLANKS)
        if line == "{":
            try:
                return self.end()
            finally:
                self._begun, self._first = [line], number
        if not self._begun:
            return read_json(line, number, self._source)
        self._begun.append(line)
        return self.end() if line == "}" else []

    def end(self) -> list[Item]:
        whole, self._begun = "\n".join(self._begun), []
        return read_json(whole, self._first, self._source) if whole else []


def parse_json(text: str | bytes) -> Any:
    """Parse JSON. NaN and infinite numbers, which JSON cannot express, become None. Raises ValueError or
    RecursionError."""
    return json.loads(text, parse_constant=lambda name: None,
                      parse_float=lambda number: float(number) if math.isfinite(float(number)) else None)


def read_json(line: str, number: int, source: str) -> list[Item]:
    """Return the items of an empty line, or of a JSON object of a known kind. Raises InputError for anything else."""
    if not line.strip(BLANKS):
        return [End.STREAM]
    try:
        message = parse_json(line)
    except (ValueError, RecursionError):
        raise InputError("not JSON, or only a part of it", "write one object a line", source, number) from None
    try:
        return _message(message)
    except ValueError as error:
        raise InputError(str(error), 'write {"word": "hello", "start": 0.31, "end": 0.52}, or a result of Vosk', source,
                         number) from None


def _message(message: Any) -> list[Item]:
    if not isinstance(message, dict):
        raise ValueError("not an object")
    if "word" in message:
        return [word_of(message)]
    if "alternatives" in message:
        several = message["alternatives"]
        if not isinstance(several, list) or not all(isinstance(one, dict) for one in several):
            raise ValueError("'alternatives' is not a list of objects")
        message = several[0] if several else {"text": ""}
        message.pop("confidence", None)
    if message.get("is_final") is False:  # a partial result of sherpa-onnx
        return [Partial(" ".join(_words(str(message.get("text", "")))))]
    if "result" in message:
        if not isinstance(message["result"], list):
            raise ValueError("'result' is not a list")
        return _utterance([word_of(word) for word in message["result"] if not _is_empty(word)], message)
    for key in ("text", "partial"):
        if key in message:
            if not isinstance(message[key], str):
                raise ValueError(f"'{key}' is not a string")
            words = _words(message[key])
            return [Partial(" ".join(words))] if key == "partial" else _utterance([*map(LiveWord, words)], message)
    if message.get("eof") or message.get("utterance_end"):
        return [End.STREAM if message.get("eof") else End.UTTERANCE]
    raise ValueError("neither a word nor a result")


def _utterance(words: list[LiveWord], message: dict[str, Any]) -> list[Item]:
    rest = {key: value for key, value in message.items() if key not in ("result", "text")}
    if words and rest:
        words[-1] = words[-1]._replace(result=rest)
    return [*words, End.UTTERANCE]


def word_of(fields: Any) -> LiveWord:
    """Convert a JSON object to a word. Invalid times count as unknown, and stay as they are among the word's `fields`.
    Raises ValueError if the object has no word."""
    if not isinstance(fields, dict) or not isinstance(fields.get("word"), str):
        raise ValueError("a word is not an object with 'word'")
    word = " ".join(_words(fields["word"]))
    if not word:
        raise ValueError("a word is empty")
    begin, end = _seconds(fields.get("start")), _seconds(fields.get("end"))
    read = {"word"} | ({"start"} if begin == begin else set()) | ({"end"} if end == end else set())  # not NaN
    return LiveWord(word, begin, end, {key: value for key, value in fields.items() if key not in read})


def _is_empty(fields: Any) -> bool:
    return isinstance(fields, dict) and isinstance(fields.get("word"), str) and not _words(fields["word"])


def _seconds(value: Any) -> float:
    fine = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < LATEST
    return float(value) if fine else math.nan


def _words(text: str) -> list[str]:
    """Return the words of a text. U+FFFD replaces NUL and lone surrogates, which the output must not contain."""
    return WORD.findall(text.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
