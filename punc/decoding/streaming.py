"""Words punctuated while they arrive: bytes of a file descriptor in, text out as soon as the model allows.

Words are parted by blanks, tabs and line ends, as in a data directory; no-break and ideographic spaces
are letters. An empty line, or the end of the input, ends a stream; other line ends mean nothing. Each
stream is written as one line. Nobody wants a live transcript to end at one bad byte: what is not UTF-8,
and NUL, becomes U+FFFD, is counted, and reported at the end.
"""

import codecs
import os
import re
import sys
from collections import deque
from collections.abc import Iterator
from typing import IO

import numpy as np

from punc.base.errors import InputError
from punc.decoding.decode import decode, live
from punc.models.base import NeuralModel
from punc.text.prose_reader import written
from punc.tokens.store import END, StoreSet
from punc.tokens.tokenizer import Tokenizer, encode_streams

CHUNK = 1 << 16
STREAM_END = re.compile(r"\n[ \t\r\v\f]*\n")
BLANK = re.compile(r"[ \t\n\r\v\f]+")


def punctuate_live(model: NeuralModel, source: int, sink: IO[bytes], scale: np.ndarray | None = None) -> None:
    """Punctuate what comes from the file descriptor `source`; `sink` is flushed whenever the input has to be awaited.

    scale   (L,) factors of the posteriors before the choice; None: all 1

    A model that reads whole streams writes at a stream's end. Raises InputError where not one word came.
    """
    words, empty = WordStream(source, sink), True
    for stream in words.streams():
        empty = False
        pieces = _whole(model, list(stream), scale) if model.lookahead is None else _one_by_one(model, stream, scale)
        for number, piece in enumerate(pieces):
            sink.write((b" " if number else b"") + piece.encode())
        sink.write(b"\n")
    sink.flush()
    if words.replaced:
        print(f"punc punctuate: {words.replaced} bytes or characters that are no text were shown as U+FFFD",
              file=sys.stderr)
    if empty:
        raise InputError("standard input: not one word", "pipe words into it")


def _one_by_one(model: NeuralModel, words: Iterator[str], scale: np.ndarray | None) -> Iterator[str]:
    log_probs = np.zeros(len(model.labels), np.float32) if scale is None else np.log(scale)
    waiting, forms = deque(), [label.write for label in model.labels]

    def tokens() -> Iterator[tuple[int, float]]:
        for token, word in _tokens(model.tokenizer, words):
            waiting.append(word)
            yield token, np.nan

    for logits in live(model, tokens()):
        word = waiting.popleft()
        if word is not None:
            yield forms[int((logits + log_probs).argmax())](word)


def _tokens(tokenizer: Tokenizer, words: Iterator[str]) -> Iterator[tuple[int, str | None]]:
    """The tokens of a stream, each with the word whose slot is after it.

    Where a stream's last token is another one than a word's, a word's last token is held back until it is known.
    """
    last = None
    for word in words:
        if last:
            yield last
        *ids, final = tokenizer.encode((word,)).ids.tolist()
        yield from ((token, None) for token in ids)
        last = (final, word)
        if not tokenizer.ends_with_end:
            yield last
            last = None
    if last:
        yield END, last[1]


def _whole(model: NeuralModel, words: list[str], scale: np.ndarray | None) -> list[str]:
    (ids, slots, _), offsets = encode_streams(model.tokenizer, words, [0, len(words)])
    chosen = decode(model, StoreSet(ids, None, None, [""], offsets), scale)[0][slots]
    return written(words, np.array(model.labels.names, object)[chosen].tolist(), model.labels)


class WordStream:
    """The words of a file descriptor, stream by stream, each as soon as the blank behind it is there.

    replaced   how many bad bytes or characters became U+FFFD
    """

    def __init__(self, source: int, sink: IO[bytes]):
        self.source, self.sink, self.replaced = source, sink, 0
        codecs.register_error("punc-count", self._replace)
        self._decoder = codecs.getincrementaldecoder("utf-8")("punc-count")
        self._items = self._read()

    def _replace(self, error: UnicodeDecodeError) -> tuple[str, int]:
        self.replaced += 1
        return "\ufffd", error.end

    def _read(self) -> Iterator[str | None]:
        """Words, and None at a stream's end."""
        rest = ""
        while True:
            self.sink.flush()  # what is decided is out before the input is awaited
            chunk = os.read(self.source, CHUNK)
            text = self._decoder.decode(chunk, final=not chunk)
            self.replaced += text.count("\0")
            text = rest + text.replace("\0", "\ufffd")
            if not chunk:
                text += "\n\n"
            # The last word may go on; the last line end may be the first of an empty line.
            cut = max(map(text.rfind, " \t\n\r\v\f")) + 1
            line = text.rfind("\n", 0, cut)
            keep = line if line >= 0 and not text[line:cut].strip(" \t\n\r\v\f") else cut
            for number, part in enumerate(STREAM_END.split(text[:cut])):
                if number:
                    yield None
                yield from filter(None, BLANK.split(part))
            rest = text[keep:] if chunk else ""
            if not chunk:
                return

    def streams(self) -> Iterator[Iterator[str]]:
        """Each stream's words; a stream has one at least."""
        for word in self._items:
            if word is not None:
                yield self._stream(word)

    def _stream(self, word: str | None) -> Iterator[str]:
        while word is not None:
            yield word
            word = next(self._items, None)
