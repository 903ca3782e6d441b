"""Punctuates standard input: reads bytes from a file descriptor, and writes text or JSON as soon as the model allows.

A bad byte or line must not end a live transcript. So NUL and bytes that are not UTF-8 become U+FFFD, bad lines of a CTM
or of JSON are left out, and warnings report both. Spaces, tabs and line ends separate words, as in a data directory.
"""

import codecs
import logging
import os
import select
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import IO

import numpy as np

from punc.base import stop
from punc.base.errors import InputError, check_choice
from punc.base.runs import bounds_of
from punc.decoding.decode import AnyModel, decode
from punc.live.input import INPUTS, End, Item, ItemReader, LiveWord
from punc.live.session import OUTPUTS, Decided, LiveOptions, Session, Writer, speaks
from punc.live.words import LiveWriter, open_stream
from punc.text.casing import Casing
from punc.text.characters import CharacterReader
from punc.tokens.store_set import StoreSet
from punc.tokens.tokenizer import encode_streams

logger = logging.getLogger(__name__)

READ_SIZE = 1 << 16  # the maximum number of bytes that `punctuate_streaming` reads at a time
LINES_SIZE = 1 << 20  # the maximum for `punctuate_lines`; a few thousand lines, which fill whole batches
MOST_WARNINGS = 10
SOURCE = "standard input"


@dataclass(frozen=True)
class LiveFormat:
    """The formats of the input and the output.

    input   words, ctm or json (one word per line, or Vosk's results); auto: decided by the first line
    output  text; json: a line for each word, with its label, probability and times; vosk: Vosk's results with marks

    Raises InputError if a value is wrong.
    """

    input: str = "auto"
    output: str = "text"

    def __post_init__(self) -> None:
        check_choice(("auto", *INPUTS), input=self.input)
        check_choice(OUTPUTS, output=self.output)


def punctuate_streaming(model: AnyModel, source: int, sink: IO[bytes], scale: np.ndarray | None = None,
                        casing: Casing | None = None, options: LiveOptions | None = None,
                        form: LiveFormat | None = None) -> None:
    """Punctuate live input from the file descriptor `source`. `sink` is flushed before each wait for input.

    scale    as in `decode`
    casing   capitalises the words; None: no casing table, so only the labels determine capitals

    With a model that reads whole streams, words are written at the end of each stream. Ctrl-C and SIGTERM act like the
    end of the input, except that KeyboardInterrupt is raised after all words are written. Raises InputError if the
    input has no words, or if `max_delay` is set but the model reads whole streams.
    """
    options, form = options or LiveOptions(), form or LiveFormat()
    if options.max_delay is not None and model.lookahead is None:
        raise InputError("--max-delay does not apply to a model that reads whole streams",
                         "use en-live, or leave it out")
    words = LiveWriter(model, casing or Casing(model.labels, {}))
    posteriors = form.output != "text"
    reader, writer = LiveReader(form.input), Writer(form.output)
    session = Session(lambda: open_stream(model, words, scale, posteriors), options)

    def write(decided: list[Decided | None], items: list[Item]) -> None:
        messages = writer.messages(decided, items, session.waiting)
        sink.write("".join(message + writer.line_end for message in messages).encode())
        sink.flush()

    try:
        _run(source, reader, session, write, options.max_delay)
    except KeyboardInterrupt:
        items = reader.end()
        write(session.feed(items), items)
        raise
    finally:
        reader.report()
    if reader.empty:
        raise InputError(f"{SOURCE} has no words", "pipe words into it")


def _run(source: int, reader: "LiveReader", session: Session, write: Callable[[list[Decided | None], list[Item]], None],
         max_delay: float | None) -> None:
    """Punctuate the input to its end. Signals take effect only while `_run` waits for input, so that no word is
    lost."""
    due = None  # time.monotonic() at which `max_delay` s of silence end; None: no words since a silence
    ended = False
    while not ended:
        ready = select.select([source], [], [], None if due is None else max(0.0, due - time.monotonic()))[0]
        with stop.held():
            if not ready:
                write(session.silence(), [])
                due = None
                continue
            read = os.read(source, READ_SIZE)
            ended = not read
            items = reader.end() if ended else reader.feed(read)
            write(session.feed(items), items)
            if max_delay is not None and speaks(items):
                due = time.monotonic() + max_delay


class LiveReader:
    """Converts live input, which arrives in pieces of any size, to items. Skips and logs lines that it cannot read.

    kind       one of INPUTS, or auto
    replaced   how many bad bytes or characters became U+FFFD
    bad        how many lines were left out
    empty      whether no word has arrived so far
    """

    def __init__(self, kind: str = "auto"):
        self.replaced, self.bad, self.empty = 0, 0, True
        codecs.register_error("punc-count", self._replace)
        self._decoder = codecs.getincrementaldecoder("utf-8")("punc-count")
        self._items = ItemReader(SOURCE, None if kind == "auto" else kind)
        self._first = True

    def _replace(self, error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeDecodeError)
        self.replaced += 1
        return "\ufffd", error.end

    def feed(self, read: bytes) -> list[Item]:
        """Return the items that the next bytes complete, as in `ItemReader`. Raises InputError for subtitles."""
        text = self._decode(read)
        if self._items.kind is None:
            _refuse_subtitles(text)
        return self._checked(self._items.feed(text))

    def end(self) -> list[Item]:
        """End the input. Return all remaining items."""
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
        self.empty = self.empty and not any(isinstance(item, LiveWord) for item in items)
        return items

    def report(self) -> None:
        """Log how many bytes or characters were replaced. If more than MOST_WARNINGS lines were left out, log their
        number."""
        if self.replaced:
            logger.warning("%s: %d bytes or characters are not text; each is replaced by U+FFFD", SOURCE, self.replaced)
        if self.bad > MOST_WARNINGS:
            logger.warning("%s: %d lines or objects were left out", SOURCE, self.bad)


def _refuse_subtitles(beginning: str) -> None:
    if "-->" in beginning:
        from punc.transcripts.cues import form_of  # imported here, because the import would delay the first word
        if form := form_of(beginning):
            raise InputError(f"{SOURCE} looks like {form}, not like words", "use punc transcript MODEL - -")


def punctuate_lines(model: AnyModel, source: int, sink: IO[bytes], scale: np.ndarray | None = None) -> None:
    """Punctuate lines from the file descriptor `source`, in a language without spaces between words.

    The model's marks replace the marks of the input. Everything else stays the same, including `[tags]`, spaces, line
    ends and bytes that are not UTF-8. All complete lines that have arrived are punctuated together. `scale` is as in
    `decode`. Raises InputError if the input is subtitles, or has no characters to punctuate.
    """
    reader, empty = CharacterReader(model.labels), True
    for read in _whole_lines(source):
        text = read.decode("utf-8", "surrogateescape")
        if empty:
            _refuse_subtitles(text)
        lines = text.split("\n")
        splits = [reader.split(line, tags=True) for line in lines]
        labels = iter(_labels(model, [split.tokens for split in splits], scale))
        texts = [reader.write(split, next(labels)) if split.tokens else "".join(split.rests) for split in splits]
        sink.write("\n".join(texts).encode("utf-8", "surrogateescape"))
        sink.flush()
        empty = empty and not any(split.tokens for split in splits)
    if empty:
        raise InputError("standard input has no characters", "pipe lines of text into it")


def _whole_lines(source: int) -> Iterator[bytes]:
    """Yield the complete lines that have arrived, up to about LINES_SIZE bytes at a time. At the end of the input,
    yield the rest, which has no line end."""
    rest: list[bytes] = []
    while read := os.read(source, LINES_SIZE):
        end = read.rfind(b"\n") + 1
        if end:
            yield b"".join([*rest, read[:end]])
            rest = []
        rest.append(read[end:])
    yield b"".join(rest)


def _labels(model: AnyModel, texts: Sequence[list[str]], scale: np.ndarray | None) -> Iterator[list[str]]:
    texts = [text for text in texts if text]
    if not texts:
        return
    bounds = bounds_of(map(len, texts)).tolist()
    (ids, slots, _), offsets = encode_streams(model.tokenizer, [token for text in texts for token in text], bounds)
    chosen = decode(model, StoreSet(ids, None, None, [""] * len(texts), offsets), scale)[0][slots]
    names = np.array(model.labels.names, object)[chosen].tolist()
    for begin, end in pairwise(bounds):
        yield names[begin:end]
