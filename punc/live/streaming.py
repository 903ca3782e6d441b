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
from punc.decoding.decode import AnyModel
from punc.live.input import INPUTS, End, Item, LiveWord
from punc.live.output import OUTPUTS, writer
from punc.live.reader import ItemReader
from punc.live.session import Decided, LiveOptions, Session, speaks
from punc.live.words import LiveWriter, open_stream
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
    words = LiveWriter(model, casing)
    session = Session(lambda: open_stream(model, words, scale, posteriors), options)
    reader, written, empty = LiveReader(form.input), writer(form.output), True

    def write(decided: list[Decided | None], items: list[Item]) -> None:
        messages = written.messages(decided, items, session.waiting)
        sink.write("".join(message + written.line_end for message in messages).encode())
        sink.flush()

    def handle(items: list[Item]) -> None:
        nonlocal empty
        empty = empty and not any(isinstance(item, LiveWord) for item in items)
        write(session.feed(items), items)

    def silence() -> None:
        write(session.silence(), [])

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
    """Live input in pieces of any size: bytes to items. Names what it leaves out.

    kind   what the input is (`live_input.INPUTS`), or auto

    replaced   how many bad bytes or characters became U+FFFD
    bad        how many lines were left out
    """

    def __init__(self, kind: str = "auto"):
        self.replaced = self.bad = 0
        codecs.register_error("punc-count", self._replace)
        self._decoder = codecs.getincrementaldecoder("utf-8")("punc-count")
        self._items, self._first = ItemReader(SOURCE, None if kind == "auto" else kind), True

    def _replace(self, error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeDecodeError)
        self.replaced += 1
        return "\ufffd", error.end

    def feed(self, read: bytes) -> list[Item]:
        """The items that are whole with the next bytes: words by the blank after them, else lines."""
        return self._checked(self._items.feed(self._decode(read)))

    def end(self) -> list[Item]:
        """All other items; the input ends."""
        items = self._items.feed(self._decode(b"", final=True))
        return [*self._checked(items + self._items.end()), End.STREAM]

    def _decode(self, read: bytes, final: bool = False) -> str:
        text = self._decoder.decode(read, final)
        self.replaced += text.count("\0")
        if self._first and text:
            text, self._first = text.removeprefix("\ufeff"), False  # a byte-order mark
        return text.replace("\0", "\ufffd")

    def _checked(self, items: list[Item]) -> list[Item]:
        for error in self._items.take_errors():
            self.bad += 1
            if self.bad <= MOST_WARNINGS:
                logger.warning("%s; it is left out", error)
        return items

    def report(self) -> None:
        """Say how many bytes were replaced and how many lines were left out, if any."""
        if self.replaced:
            logger.warning("%s: %d bytes or characters are not text; U+FFFD stands for each", SOURCE, self.replaced)
        if self.bad > MOST_WARNINGS:
            logger.warning("%s: %d lines or objects were left out", SOURCE, self.bad)
