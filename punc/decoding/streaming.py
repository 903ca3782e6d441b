"""Words punctuated as they arrive: bytes from a file descriptor in, text out as soon as the model allows.

Blanks, tabs and line ends separate words, as in a data directory; no-break and ideographic spaces are letters. An
empty line, or the end of the input, ends a stream; other line ends mean nothing. Each stream is written as one line.
One bad byte must not end a live transcript: NUL and what is not UTF-8 become U+FFFD, and a message at the end counts
them.
"""

import codecs
import logging
import os
import re
from collections.abc import Iterator
from typing import IO

import numpy as np

from punc.base.errors import InputError
from punc.decoding.dispatch import AnyModel
from punc.decoding.live import mark, open_stream
from punc.text.casing import Casing

logger = logging.getLogger(__name__)

READ_SIZE = 1 << 16  # bytes
STREAM_END = re.compile(r"\n[ \t\r\v\f]*\n")
BLANK = re.compile(r"[ \t\n\r\v\f]+")


def punctuate_streaming(model: AnyModel, source: int, sink: IO[bytes], scale: np.ndarray | None = None,
                        casing: Casing | None = None) -> None:
    """Punctuate words from the file descriptor `source`; `sink` is flushed before each wait for input.

    scale   (L,) factors of the posteriors before labels are chosen; None: all 1
    casing  writes the words with their labels; None: without a table

    A model that reads whole streams writes at the end of each stream. Raises InputError if there is no word.
    """
    words, empty, casing = WordStream(source, sink), True, casing or Casing(model.labels, {})
    for stream in words.streams():
        empty, blank = False, b""
        for marked in mark(open_stream(model, casing, scale, posteriors=False), stream):
            sink.write(blank + marked.text.encode())
            blank = b" "
        sink.write(b"\n")
    sink.flush()
    if words.replaced:
        logger.warning("standard input: %d bytes or characters are not text; U+FFFD stands for each", words.replaced)
    if empty:
        raise InputError("standard input has no words", "pipe words into it")


class WordStream:
    """Reads a file descriptor as streams of words; a word is out as soon as the blank after it is read.

    replaced   how many bad bytes or characters became U+FFFD
    """

    def __init__(self, source: int, sink: IO[bytes]):
        self.source, self.sink, self.replaced = source, sink, 0
        codecs.register_error("punc-count", self._replace)
        self._decoder = codecs.getincrementaldecoder("utf-8")("punc-count")
        self._items = self._read()

    def _replace(self, error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeDecodeError)
        self.replaced += 1
        return "\ufffd", error.end

    def _read(self) -> Iterator[str | None]:
        """Words, and None at the end of each stream."""
        rest = ""
        while True:
            self.sink.flush()  # before a wait for input
            read = os.read(self.source, READ_SIZE)
            text = self._decoder.decode(read, final=not read)
            self.replaced += text.count("\0")
            text = rest + text.replace("\0", "\ufffd")
            if not read:
                text += "\n\n"
            # The next bytes may continue the last word, or make an empty line of the last line end.
            cut = max(map(text.rfind, " \t\n\r\v\f")) + 1
            line = text.rfind("\n", 0, cut)
            keep = line if line >= 0 and not text[line:cut].strip(" \t\n\r\v\f") else cut
            for number, stream in enumerate(STREAM_END.split(text[:cut])):
                if number:
                    yield None
                yield from filter(None, BLANK.split(stream))
            rest = text[keep:] if read else ""
            if not read:
                return

    def streams(self) -> Iterator[Iterator[str]]:
        """The words of each stream, which has at least one."""
        for word in self._items:
            if word is not None:
                yield self._stream(word)

    def _stream(self, word: str | None) -> Iterator[str]:
        while word is not None:
            yield word
            word = next(self._items, None)
