"""Texts without blanks between words, a line each, punctuated: bytes of a file descriptor in, text out.

Every mark of the input is taken out, and the model's are put in; all else comes out as it was, blanks, line ends and
bytes that are not UTF-8 too. Lines that are there are punctuated together, as soon as their ends are.
"""

import os
from collections.abc import Iterator, Sequence
from typing import IO

import numpy as np

from punc.base.errors import InputError
from punc.decoding.decode import decode
from punc.models.base import NeuralModel
from punc.text.characters import CharacterReader
from punc.tokens.store import StoreSet
from punc.tokens.tokenizer import encode_streams

CHUNK = 1 << 20  # bytes: some thousand lines, which fill batches


def punctuate_lines(model: NeuralModel, source: int, sink: IO[bytes], scale: np.ndarray | None = None) -> None:
    """Punctuate the lines that come from the file descriptor `source`.

    scale   (L,) factors of the posteriors before the choice; None: all 1

    Raises InputError where not one character came.
    """
    reader, empty = CharacterReader(model.labels), True
    for block in _blocks(source):
        lines = block.decode("utf-8", "surrogateescape").split("\n")
        splits = [reader.split(line) for line in lines]
        labels = iter(_labels(model, [split.tokens for split in splits], scale))
        texts = [reader.write(split, next(labels)) if split.tokens else "".join(split.rests) for split in splits]
        sink.write("\n".join(texts).encode("utf-8", "surrogateescape"))
        sink.flush()
        empty = empty and not any(split.tokens for split in splits)
    if empty:
        raise InputError("standard input: not one character", "pipe text into it, a line each")


def _blocks(source: int) -> Iterator[bytes]:
    """Whole lines, as many as are there, up to about CHUNK bytes; the last line may have no end."""
    rest = []
    while chunk := os.read(source, CHUNK):
        end = chunk.rfind(b"\n") + 1
        if end:
            yield b"".join([*rest, chunk[:end]])
            rest = []
        rest.append(chunk[end:])
    yield b"".join(rest)


def _labels(model: NeuralModel, texts: Sequence[list[str]], scale: np.ndarray | None) -> Iterator[list[str]]:
    """The names of the labels of each text that has tokens."""
    texts = [text for text in texts if text]
    if not texts:
        return
    bounds = np.cumsum([0, *map(len, texts)])
    (ids, slots, _), offsets = encode_streams(model.tokenizer, [token for text in texts for token in text], bounds)
    chosen = decode(model, StoreSet(ids, None, None, [""] * len(texts), offsets), scale)[0][slots]
    names = np.array(model.labels.names, object)[chosen].tolist()
    for begin, end in zip(bounds.tolist(), bounds[1:].tolist()):
        yield names[begin:end]
