"""Raw text to a data directory: blocks of the input are analysed in parallel, and come out in order."""

import os
import signal
import threading
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from mmap import ACCESS_READ, mmap
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.files import open_input
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


_reader: RawReader | None = None  # a worker process's own


def _start_worker(raw: RawFormat) -> None:
    global _reader
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to every process; the parent tells of it
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _reader = RawReader(raw)


def _end_with_parent() -> None:
    """End a worker whose parent was killed; it would wait for work forever."""
    wait([parent_process().sentinel])
    os._exit(1)


def _work(block: Block) -> tuple[list[Piece], Counter]:
    return read_block(block, _reader)


def read_blocks(raw: RawFormat, inputs: Iterable[Block], nj: int) -> Iterator[tuple[list[Piece], Counter]]:
    """`read_block` of each block, in order, by `nj` processes; at most a few blocks are in memory."""
    inputs = iter(inputs)
    start = [block for _, block in zip(range(2), inputs)]
    if nj == 1 or len(start) < 2:  # starting processes takes longer than reading one block
        reader = RawReader(raw)
        yield from (read_block(block, reader) for part in (start, inputs) for block in part)
        return
    # Spawned, not forked: a caller's threads do not survive a fork.
    with ProcessPoolExecutor(nj, get_context("spawn"), _start_worker, (raw,)) as pool:
        try:
            ahead = deque(pool.submit(_work, block) for block in start)
            for block in inputs:
                ahead.append(pool.submit(_work, block))
                if len(ahead) > 2 * nj:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        except BrokenProcessPool:
            raise InputError("a worker process was killed", "free some memory, or use --nj=1") from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


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
        for some, repaired in read_blocks(raw, blocks(inputs, raw.delimiter), nj):
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
