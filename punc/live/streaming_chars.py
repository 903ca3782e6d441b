"""Lines of text without blanks between words, punctuated: bytes from a file descriptor in, text out.

The marks of the input are removed and those of the model inserted. All else comes out as it was, including blanks,
line ends and bytes that are not UTF-8. Lines that have arrived are punctuated together, as soon as they are complete.
"""

import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import IO

import numpy as np

from punc.base.errors import InputError
from punc.decoding.decode import AnyModel, decode
from punc.text.characters import CharacterReader
from punc.tokens.store_set import StoreSet
from punc.tokens.tokenizer import encode_streams

READ_SIZE = 1 << 20  # bytes: a few thousand lines, which fill batches


def punctuate_lines(model: AnyModel, source: int, sink: IO[bytes], scale: np.ndarray | None = None) -> None:
    """Punctuate lines from the file descriptor `source`.

    scale   (L,) factors of the posteriors before labels are chosen; None: all 1

    Raises InputError if there is no character.
    """
    reader, empty = CharacterReader(model.labels), True
    for read in _whole_lines(source):
        lines = read.decode("utf-8", "surrogateescape").split("\n")
        splits = [reader.split(line) for line in lines]
        labels = iter(_labels(model, [split.tokens for split in splits], scale))
        texts = [reader.write(split, next(labels)) if split.tokens else "".join(split.rests) for split in splits]
        sink.write("\n".join(texts).encode("utf-8", "surrogateescape"))
        sink.flush()
        empty = empty and not any(split.tokens for split in splits)
    if empty:
        raise InputError("standard input has no characters", "pipe lines of text into it")


def _whole_lines(source: int) -> Iterator[bytes]:
    """All complete lines that have arrived, up to about READ_SIZE bytes; the last line may have no line end."""
    rest: list[bytes] = []
    while read := os.read(source, READ_SIZE):
        end = read.rfind(b"\n") + 1
        if end:
            yield b"".join([*rest, read[:end]])
            rest = []
        rest.append(read[end:])
    yield b"".join(rest)


def _labels(model: AnyModel, texts: Sequence[list[str]], scale: np.ndarray | None) -> Iterator[list[str]]:
    """The label names of each text that has tokens."""
    texts = [text for text in texts if text]
    if not texts:
        return
    bounds = np.cumsum([0, *map(len, texts)]).tolist()
    (ids, slots, _), offsets = encode_streams(model.tokenizer, [token for text in texts for token in text], bounds)
    chosen = decode(model, StoreSet(ids, None, None, [""] * len(texts), offsets), scale)[0][slots]
    names = np.array(model.labels.names, object)[chosen].tolist()
    for begin, end in pairwise(bounds):
        yield names[begin:end]
