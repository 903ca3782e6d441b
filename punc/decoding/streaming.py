"""Live input punctuated: bytes from a file descriptor in, text or JSON out as soon as the model allows.

`live_input` says what the input can be. One bad byte or line must not end a live transcript: NUL and what is not UTF-8
become U+FFFD, a bad line of a CTM or of JSON is left out, and messages name and count them. Blanks, tabs and line ends
separate words, as in a data directory; no-break and ideographic spaces are letters.
"""

import codecs
import logging
import os
import select
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO

import numpy as np

from punc.base import stop
from punc.base.errors import InputError, check_choice
from punc.decoding.dispatch import AnyModel
from punc.decoding.live import open_stream
from punc.decoding.live_input import BLANKS, INPUTS, CtmReader, End, Item, JsonReader, LiveWord, kind_of, read_words
from punc.decoding.live_output import OUTPUTS, writer
from punc.decoding.live_session import LiveOptions, Session, speaks
from punc.text.casing import Casing

logger = logging.getLogger(__name__)

READ_SIZE = 1 << 16  # bytes
MOST_WARNINGS = 10
SOURCE = "standard input"


@dataclass(frozen=True)
class LiveFormat:
    """What is read and written.

    input   words, ctm or json (lines of words, or Vosk's results); auto: by the first line
    output  text; json: a line for each word, with its label, probability and times; vosk: Vosk's results with marks

    Raises InputError if one of them is wrong.
    """

    input: str = "auto"
    output: str = "text"

    def __post_init__(self) -> None:
        check_choice(("auto", *INPUTS), input=self.input)
        check_choice(OUTPUTS, output=self.output)


def punctuate_streaming(model: AnyModel, source: int, sink: IO[bytes], scale: np.ndarray | None = None,
                        casing: Casing | None = None, options: LiveOptions | None = None,
                        form: LiveFormat | None = None) -> None:
    """Punctuate live input from the file descriptor `source`; `sink` is flushed before each wait for input.

    scale    (L,) factors of the posteriors before labels are chosen; None: all 1
    casing   writes the words with their labels; None: without a table
    options  when words are decided; None: the defaults, as of `form`

    A model that reads whole streams writes at the end of each stream. Ctrl-C and SIGTERM are as the end of the input,
    and raised when all is written. Raises InputError if there is no word, and for `max_delay` with such a model.
    """
    options, form = options or LiveOptions(), form or LiveFormat()
    if options.max_delay is not None and model.lookahead is None:
        raise InputError("--max-delay with a model that reads whole streams", "take en-live, or leave it out")
    casing, posteriors = casing or Casing(model.labels, {}), form.output != "text"
    session = Session(lambda: open_stream(model, casing, scale, posteriors), options)
    reader, written, empty = LiveReader(form.input), writer(form.output), True

    def handle(items: list[Item]) -> None:
        nonlocal empty
        empty = empty and not any(isinstance(item, LiveWord) for item in items)
        sink.write((written.write(session.feed(items)) + written.partial(items, session.waiting)).encode())
        sink.flush()

    def silence() -> None:
        sink.write(written.write(session.silence()).encode())
        sink.flush()

    try:
        _read(source, reader, handle, silence, options.max_delay)
    except KeyboardInterrupt:
        handle(reader.end())
        raise
    finally:
        reader.report()
    if empty:
        raise InputError(f"{SOURCE} has no words", "pipe words into it")


def _read(source: int, reader: "LiveReader", handle: Callable[[list[Item]], None], silence: Callable[[], None],
          max_delay: float | None) -> None:
    """Read to the end of the input. A signal comes only while this waits, so that no word is lost."""
    due = None  # when the speaker has been silent for `max_delay`
    ended = False
    while not ended:
        ready = select.select([source], [], [], None if due is None else max(0.0, due - time.monotonic()))[0]
        with stop.held():
            if not ready:
                silence()
                due = None
                continue
            read = os.read(source, READ_SIZE)
            ended = not read
            items = reader.end() if ended else reader.feed(read)
            handle(items)
            if max_delay is not None and speaks(items):
                due = time.monotonic() + max_delay


class LiveReader:
    """Live input in pieces of any size: bytes to items.

    kind   what the input is (`live_input.INPUTS`), or auto

    replaced   how many bad bytes or characters became U+FFFD
    bad        how many lines were left out
    """

    def __init__(self, kind: str = "auto"):
        self.replaced = self.bad = 0
        codecs.register_error("punc-count", self._replace)
        self._decoder = codecs.getincrementaldecoder("utf-8")("punc-count")
        self._kind, self._ctm, self._json = None if kind == "auto" else kind, CtmReader(), JsonReader()
        self._rest: list[str] = []  # the begin of a word or a line
        self._first, self._number, self._in_line = True, 0, False

    def _replace(self, error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeDecodeError)
        self.replaced += 1
        return "\ufffd", error.end

    def feed(self, read: bytes) -> list[Item]:
        """The items that are whole with the next bytes: words by the blank after them, else lines."""
        return self._items(self._decoder.decode(read))

    def end(self) -> list[Item]:
        """All other items; the input ends."""
        items = self._items(self._decoder.decode(b"", final=True), whole=True)
        if self._rest:
            rest = "".join(self._rest)
            self._rest = []
            items += read_words([rest]) if self._kind == "words" else self._line(rest)
        try:
            items += self._json.end(SOURCE)
        except InputError as error:
            self._leave_out(error)
        return [*items, End.STREAM]

    def _items(self, text: str, whole: bool = False) -> list[Item]:
        self.replaced += text.count("\0")
        text = text.replace("\0", "\ufffd")
        if self._first and text:
            text, self._first = text.removeprefix("\ufeff"), False  # a byte-order mark
        if self._kind is None:
            text = "".join([*self._rest, text])
            self._rest, self._kind = [text], kind_of(text, whole) if text.strip(BLANKS) else None
            if self._kind is None:
                return []
            self._rest = []
        return self._words(text) if self._kind == "words" else self._lines(text)

    def _cut(self, text: str, ends: str) -> str:
        """All up to the last of some characters; the rest is kept, and comes first the next time."""
        cut = max(map(text.rfind, ends)) + 1
        if not cut:
            self._rest.append(text)
            return ""
        whole = "".join([*self._rest, text[:cut]])
        self._rest = [text[cut:]] if cut < len(text) else []
        return whole

    def _words(self, text: str) -> list[Item]:
        items: list[Item] = []
        *lines, last = self._cut(text, BLANKS).split("\n")
        for line in lines:
            of_line = read_words([line])
            # Without a word since the last line end, the line is empty.
            items += [*of_line[:-1], End.UTTERANCE if self._in_line else of_line[-1]]
            self._in_line = False
        of_line = read_words([last])[:-1]
        self._in_line = self._in_line or bool(of_line)
        return items + of_line

    def _lines(self, text: str) -> list[Item]:
        return [item for line in self._cut(text, "\n").split("\n")[:-1] for item in self._line(line)]

    def _line(self, line: str) -> list[Item]:
        self._number += 1
        try:
            return (self._json if self._kind == "json" else self._ctm).read(line, self._number, SOURCE)
        except InputError as error:
            self._leave_out(error)
            return []

    def _leave_out(self, error: InputError) -> None:
        self.bad += 1
        if self.bad <= MOST_WARNINGS:
            logger.warning("%s; it is left out", error)

    def report(self) -> None:
        """Say how many bytes were replaced and how many lines were left out, if any."""
        if self.replaced:
            logger.warning("%s: %d bytes or characters are not text; U+FFFD stands for each", SOURCE, self.replaced)
        if self.bad > MOST_WARNINGS:
            logger.warning("%s: %d lines or objects were left out", SOURCE, self.bad)
