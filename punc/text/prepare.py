"""Raw text to a data directory: blocks of the input are analysed in parallel, and come out in order."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.files import open_input
from punc.base.parallel import map_ordered
from punc.data.datadir import Utterance, write_data_dir
from punc.text.chunks import Cutter, Piece, in_order, stream_name
from punc.text.readers import RawFormat, RawReader

BLOCK = 1 << 21  # bytes: large beside the cost of handing it over, small beside the memory


class Block(NamedTuple):
    """A part of an input file.

    line_start  whether it begins at the beginning of a line
    first       whether it is the file's first
    """

    path: str
    offset: int
    data: bytes
    line_start: bool
    first: bool


def blocks(paths: Iterable[str | os.PathLike], delimiter: bytes, size: int = BLOCK) -> Iterator[Block]:
    """The input files in blocks that end with `delimiter`, or at least at a blank where a line is longer than `size`.

    Raises InputError for a missing or an empty file.
    """
    for path in paths:
        with open_input(path) as file:
            rest, offset, line_start, first = b"", 0, True, True
            while data := file.read(size):
                data = rest + data
                end = last_end(data, delimiter)
                rest = data[end:]
                if end:
                    yield Block(os.fspath(path), offset, data[:end], line_start, first)
                    offset, line_start, first = offset + end, data[end - 1:end] == b"\n", False
            if first and not rest:
                raise InputError("the file is empty", "get it again", path)
            if rest:
                yield Block(os.fspath(path), offset, rest, line_start, first)


def last_end(data: bytes, delimiter: bytes) -> int:
    """Where the last `delimiter` of some bytes ends, in either case; 0 where there is none."""
    if delimiter == b"\n":
        return data.rfind(b"\n") + 1 or data.rfind(b" ") + 1
    at = data.lower().rfind(delimiter)
    return 0 if at < 0 else at + len(delimiter)


def file_name(path: str | os.PathLike) -> str:
    """What the stream of a file is called: the file's name without its ending."""
    return stream_name(Path(path).stem)


def read_block(block: Block, reader: RawReader) -> tuple[list[Piece], Counter]:
    """The pieces of a block and its repairs. Raises InputError with file and line."""
    try:
        pieces, repairs = reader.pieces(block.data, block.line_start)
    except InputError as error:
        with open_input(block.path) as file:
            before = count_lines(file, block.offset)
        raise InputError(error.what, error.remedy, block.path, before + error.line) from None
    if block.first and pieces and pieces[0].stream is None:
        pieces[0] = pieces[0]._replace(stream=file_name(block.path) if reader.raw.keep_names else "")
    return pieces, repairs


def contains(path: str | os.PathLike, what: bytes) -> bool:
    """Whether a file has some bytes in it. Raises InputError for a missing file."""
    with open_input(path) as file:
        if not os.fstat(file.fileno()).st_size:
            return False
        with mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            return data.find(what) >= 0


def count_lines(file, end: int) -> int:
    """How many lines end before byte `end`."""
    lines = 0
    while end > 0 and (data := file.read(min(end, 1 << 20))):
        lines, end = lines + data.count(b"\n"), end - len(data)
    return lines


def prepare(raw: RawFormat, inputs: Sequence[str | os.PathLike], output: str | os.PathLike, utt_words: int = 50,
            prefix: str = "", independent: bool = False, nj: int = 1) -> Counter:
    """Write the data directory of some raw text files, each of which begins a stream.

    Streams are in the order of the files, or of their names where the files name them (`raw.named`).

    utt_words    words of an utterance where the text has no utterances of its own
    prefix       what stream names begin with
    independent  every utterance is a stream of its own
    nj           processes; the output does not depend on it

    Returns counts: streams, utterances, words, each label, and the repairs. Raises InputError for input that
    cannot be read or repaired; the output is then as it was.
    """
    counts, repairs = Counter(), Counter()
    pauses = raw.name == "sil" and any(contains(path, b"<sil=") for path in inputs)
    cutter = Cutter(0 if raw.utterances else utt_words, raw.reader.attach, prefix, independent, pauses, not raw.keep_names)
    if raw.keep_names:
        files = dict(zip(map(file_name, inputs), inputs))
        inputs = [files[name] for name in in_order(map(file_name, inputs))]

    def pieces() -> Iterator[Piece]:
        read = partial(read_block, reader=RawReader(raw))
        for some, repaired in map_ordered(read, blocks(inputs, raw.delimiter), nj):
            repairs.update(repaired)
            yield from some

    def counted(utterances: Iterable[Utterance]) -> Iterator[Utterance]:
        stream = None
        for utterance in utterances:
            counts["streams"] += utterance.stream != stream
            counts["utterances"] += 1
            counts["words"] += len(utterance.words)
            if utterance.pauses is not None and (unknown := int(np.isnan(utterance.pauses).sum())):
                repairs["words without a pause: unknown there"] += unknown
            stream = utterance.stream
            yield utterance

    write_data_dir(output, counted(cutter.cut(pieces())))
    if cutter.dropped:
        repairs["marks before a first word, dropped"] += cutter.dropped
    return counts + repairs
