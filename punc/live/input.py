"""Live input, line by line: words, with times where they are known, and what else happens in a stream.

Kinds of input:

    words  words between blanks; a line end is the end of an utterance, an empty line that of a stream
    ctm    lines of a CTM; another id or channel is another stream (`timing.ctm`)
    json   an object a line, or over several lines as Vosk writes it:
             {"word": "hello", "start": 0.31, "end": 0.52, …}      a word; times in seconds
             {"result": [{"word": …}, …], "text": "hello you"}     a final result of Vosk: an utterance
             {"text": "hello you"}                                 the same without times
             {"alternatives": [{"text": …}, …]}                    the same, if Vosk gives several; the first is taken
             {"partial": "hell"}                                   a partial result of Vosk: these words may change yet
             {"text": "hell", "is_final": false}                   the same of sherpa-onnx
             {"utterance_end": true}, {"eof": 1}                   the end of an utterance, of a stream

In each of them an empty line ends a stream. Vosk's messages are those of its `Result`, `PartialResult` and
`FinalResult` (github.com/alphacep/vosk-api, src/vosk_api.h), and `{"eof": 1}` that of vosk-server's clients.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple

from punc.base.errors import InputError
from punc.data.datadir import LATEST
from punc.transcripts.ctm import CTM_SILENCE
from punc.transcripts.ctm_lines import CtmLine, ctm_rows

INPUTS = ("words", "ctm", "json")
BLANKS = " \t\n\r\v\f"
BLANK = re.compile(r"[ \t\n\r\v\f]+")
NUMBER = r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+"
CTM_LINE = re.compile(rf"[ \t]*\S+[ \t]+\S[ \t]+(?:{NUMBER})[ \t]+(?:{NUMBER})[ \t]+\S+"
                      rf"(?:[ \t]+(?:NA|{NUMBER})(?:[ \t].*)?)?[ \t\r]*")
# What a CTM's first line can begin with, as long as it is not whole.
CTM_BEGIN = re.compile(r"[ \t]*\S*(?:[ \t]+\S?(?:[ \t]+[0-9.]*(?:[ \t]+[0-9.]*(?:[ \t].*)?)?)?)?")
LONGEST_LINE = 1000  # characters of a CTM's line
NO_FIELDS: Mapping[str, Any] = MappingProxyType({})


class LiveWord(NamedTuple):
    """A word as it came in.

    begin, end   seconds, NaN where they are not known
    fields       what else the input says of it
    result       what else the result of Vosk says that ends with it
    """

    word: str
    begin: float = math.nan
    end: float = math.nan
    fields: Mapping[str, Any] = NO_FIELDS
    result: Mapping[str, Any] = NO_FIELDS


class Partial(NamedTuple):
    """Words that may change yet: they say that the speaker speaks, or is silent if there are none."""

    text: str


class End(Enum):
    """What ends."""

    UTTERANCE = "utterance"
    STREAM = "stream"


Item = LiveWord | Partial | End


def kind_of(text: str, whole: bool) -> str | None:
    """The kind of an input that begins with `text`, which is not blank; None if more must be read.

    whole   nothing comes after `text`
    """
    text = text.lstrip(BLANKS)
    if text.startswith("{"):
        return "json"
    line, end, _ = text.partition("\n")
    if line.startswith(";;"):  # NIST's comment
        return "ctm"
    if len(line) > LONGEST_LINE:  # whole or not: pieces of any size give the same kind
        return "words"
    if end or whole:
        return "ctm" if CTM_LINE.fullmatch(line) else "words"
    return None if CTM_BEGIN.fullmatch(line) else "words"


def read_words(lines: Iterable[str]) -> list[Item]:
    """The items of whole lines of words."""
    items: list[Item] = []
    for line in lines:
        words = [*filter(None, BLANK.split(line))]
        items += map(LiveWord, words)
        items.append(End.UTTERANCE if words else End.STREAM)
    return items


class CtmReader:
    """Reads the lines of a CTM as they come."""

    def __init__(self) -> None:
        self._stream: tuple[str, str] | None = None
        self._later = False  # whether these are later alternatives

    def read(self, line: str, number: int, source: str) -> list[Item]:
        """The items of a line, which may be empty. Raises InputError for a line that is not one of a CTM."""
        columns = [*filter(None, BLANK.split(line))]
        if not columns:
            return [End.STREAM]
        if columns[4:5] in (["<ALT_BEGIN>"], ["<ALT>"], ["<ALT_END>"]):
            self._later = columns[4] == "<ALT>"
            return []
        if len(columns) < 5 and not columns[0].startswith(";;"):
            raise InputError(f"{len(columns)} columns", "write: id channel begin duration word", source, number)
        items: list[Item] = []
        for row, _, _ in () if self._later else ctm_rows([CtmLine(source, number, " ".join(columns))]):
            if self._stream not in (None, row[:2]):
                items.append(End.STREAM)
            self._stream = row[:2]
            if row.word not in CTM_SILENCE:
                fields = {} if row.confidence is None else {"conf": row.confidence}
                items.append(LiveWord(row.word, row.begin, round(row.begin + row.duration, 6),
                                      {**fields, "id": row.id, "channel": row.channel}))
        return items

    def end(self, source: str) -> list[Item]:
        """Nothing: a line is whole."""
        return []


class JsonReader:
    """Reads the lines of JSON as they come: an object a line, or one over several lines, as Vosk writes it.

    Such an object begins with a line `{` and ends with a line `}` that has no blanks before it.
    """

    def __init__(self) -> None:
        self._begun: list[str] = []  # the lines of an object
        self._first = 0  # the number of the first one

    def read(self, line: str, number: int, source: str) -> list[Item]:
        """The items that a line ends. Raises InputError as `read_json`, and if an object has no end."""
        line = line.rstrip(BLANKS)
        if line == "{":
            before, self._begun = self._begun, [line]
            first, self._first = self._first, number
            return read_json("\n".join(before), first, source) if before else []
        if not self._begun:
            return read_json(line, number, source)
        self._begun.append(line)
        return self.end(source) if line == "}" else []

    def end(self, source: str) -> list[Item]:
        """The items of an object that is not whole, because the input ends. Raises InputError for it."""
        whole, self._begun = "\n".join(self._begun), []
        return read_json(whole, self._first, source) if whole else []


def read_json(line: str, number: int, source: str) -> list[Item]:
    """The items of an object, or of an empty line. Raises InputError if it is none of the messages."""
    if not line.strip(BLANKS):
        return [End.STREAM]
    try:
        message = json.loads(line, parse_constant=lambda name: None)  # NaN is not JSON, but Python writes it
    except (ValueError, RecursionError):
        raise InputError("not JSON, or only a part of it", "write one object a line", source, number) from None
    try:
        return _message(message)
    except ValueError as error:
        raise InputError(str(error), 'write {"word": "hello", "start": 0.31, "end": 0.52}, or what Vosk writes', source,
                         number) from None


def _message(message: Any) -> list[Item]:
    if not isinstance(message, dict):
        raise ValueError("not an object")
    if "word" in message:
        return [_word(message)]
    if "alternatives" in message:
        several = message["alternatives"]
        if not isinstance(several, list) or not all(isinstance(one, dict) for one in several):
            raise ValueError("'alternatives' are not a list of objects")
        message = several[0] if several else {"text": ""}
        message.pop("confidence", None)
    if message.get("is_final") is False:  # of sherpa-onnx: these words may change yet
        return [Partial(" ".join(filter(None, BLANK.split(_text(str(message.get("text", "")))))))]
    if "result" in message:
        if not isinstance(message["result"], list):
            raise ValueError("'result' is not a list")
        return [*_with_rest([*map(_word, message["result"])], message), End.UTTERANCE]
    for key in ("text", "partial"):
        if key in message:
            if not isinstance(message[key], str):
                raise ValueError(f"'{key}' is not a text")
            words = [*filter(None, BLANK.split(_text(message[key])))]
            return [Partial(" ".join(words))] if key == "partial" else \
                [*_with_rest([*map(LiveWord, words)], message), End.UTTERANCE]
    if message.get("eof") or message.get("utterance_end"):
        return [End.STREAM if message.get("eof") else End.UTTERANCE]
    raise ValueError("neither a word nor a result")


def _with_rest(words: list[LiveWord], message: dict[str, Any]) -> list[LiveWord]:
    """The words of a final result; the last one has its other members, as `spk`, the speaker's vector."""
    rest = {key: value for key, value in message.items() if key not in ("result", "text")}
    return [*words[:-1], words[-1]._replace(result=rest)] if words and rest else words


def _word(fields: Any) -> LiveWord:
    """A word of an object. A time that is missing, or is not a number of seconds, is not known."""
    if not isinstance(fields, dict) or not isinstance(fields.get("word"), str):
        raise ValueError("a word is not an object with 'word'")
    word = " ".join(filter(None, BLANK.split(_text(fields["word"]))))
    if not word:
        raise ValueError("a word is empty")
    return LiveWord(word, _seconds(fields.get("start")), _seconds(fields.get("end")),
                    {key: value for key, value in fields.items() if key not in ("word", "start", "end")})


def _seconds(value: Any) -> float:
    fine = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < LATEST
    return float(value) if fine else math.nan


def _text(text: str) -> str:
    """A text that can be written: U+FFFD for NUL and half surrogates, which JSON can have."""
    return text.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
