"""Data directories at full speed: blocks of whole lines, which several processes count or encode.

This is the fast counterpart of `DataDir.utterances`: the same tables, order and checks, but a block of lines at a time,
without a Python step per token. If a check fails, `explain` lets the data directory itself find the error, with file,
line and remedy.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import chain, groupby, islice, pairwise, starmap
from operator import itemgetter, lt
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.files import open_input
from punc.base.lookup import Lookup, Tokens, split_lines, strings
from punc.data.datadir import DataDir
from punc.data.kaldi_io import VectorReader
from punc.data.labels import LabelSet
from punc.data.tables import fields
from punc.data.turns import FLAGS, TURNS

# Bytes of text in a block. To encode, a block fits a processor's cache; to count, it is larger, as adding up the counts
# of each block takes time. Both are fixed: what counting forgets must not depend on the number of processes.
ENCODE_BYTES, COUNT_BYTES = 1 << 18, 1 << 21


class Irregular(Exception):
    """A block fails a check; `explain` finds out which."""


class LineBlock(NamedTuple):
    """Some utterances of a data directory: the same lines of each table.

    line    the number of the first line, from 1
    spans   table → (offset, size) of these lines in bytes
    """

    line: int
    spans: dict[str, tuple[int, int]]


class Encoded(NamedTuple):
    """The tokens of some utterances, one after another.

    ids      int32 (N,)
    labels   int8 (N,), -1 at tokens without a slot, or None
    pauses   float32 (N,), NaN at tokens without a slot, or None
    streams  (stream, number of tokens) for each run of utterances of one stream
    first    the first utterance's id
    last     the last utterance's id
    words    number of words
    lost     number of unknown tokens, or of characters left out
    turns    bool (N,), false at tokens without a slot, or None
    """

    ids: np.ndarray
    labels: np.ndarray | None
    pauses: np.ndarray | None
    streams: list[tuple[str, int]]
    first: str
    last: str
    words: int
    lost: int
    turns: np.ndarray | None = None


def line_blocks(data: DataDir, names: Iterable[str], size: int) -> Iterator[LineBlock]:
    """Cut the tables `names` of a data directory into blocks of at least `size` bytes of `text`, but the last.

    Raises Irregular if a table has more lines than `text`.
    """
    line = 1
    with ExitStack() as stack:
        files = {name: stack.enter_context(open_input(data.path / name)) for name in names}
        while True:
            starts = {name: file.tell() for name, file in files.items()}
            count = _skip_bytes(files["text"], size)
            if not count:
                break
            for name in files.keys() - {"text"}:
                _skip_lines(files[name], count)
            yield LineBlock(line, {name: (start, files[name].tell() - start) for name, start in starts.items()})
            line += count
        if any(file.read(1) for file in files.values()):
            raise Irregular


def _skip_bytes(file: IO[bytes], size: int) -> int:
    """Skip `size` bytes and the rest of the line; returns the number of lines skipped."""
    part = file.read(size)
    rest = file.readline() if part[-1:] != b"\n" else b""
    return part.count(b"\n") + rest.count(b"\n") + ((rest or part)[-1:] not in (b"\n", b""))


def _skip_lines(file: IO[bytes], count: int) -> None:
    """Skip `count` lines, or all if there are fewer."""
    start = file.tell()
    while part := file.read(1 << 20):
        ends = np.flatnonzero(np.frombuffer(part, np.uint8) == 10)
        if len(ends) >= count:
            start += int(ends[count - 1]) + 1
            break
        start, count = start + len(part), count - len(ends)
    file.seek(start)


def read_span(path: Path, span: tuple[int, int]) -> bytes:
    """The lines at (offset, size) of a table, with single blanks between fields. Raises Irregular for bad bytes."""
    with open_input(path) as file:
        file.seek(span[0])
        text = file.read(span[1])
    if not text or b"\r" in text or b"\0" in text:
        raise Irregular
    text = text.replace(b"\t", b" ")
    while b"  " in text:
        text = text.replace(b"  ", b" ")
    text = text.removesuffix(b"\n").replace(b" \n", b"\n").removesuffix(b" ") + b"\n"
    try:
        text.decode()
    except UnicodeDecodeError:
        raise Irregular from None
    return text


def count_block(path: Path, known: Lookup, block: LineBlock) -> tuple[np.ndarray, Counter[bytes]]:
    """How often each word occurs in a block: for `known` words int64 (len(known),), for others word → count.

    The arrays of a whole block's tokens would take 15 times its size, so a part of it is split at a time.
    """
    numbers, others = np.zeros(len(known), np.int64), Counter[bytes]()
    for part in _parts(read_span(path / "text", block.spans["text"])):
        words = split_lines(part)[1]
        indices = known.indices(words)
        numbers += np.bincount(indices + 1, minlength=len(known) + 1)[1:]
        others.update(strings(words.at(np.flatnonzero(indices < 0))))
    return numbers, others


def _parts(lines: bytes) -> Iterator[bytes]:
    """The lines in parts of ENCODE_BYTES and the rest of a line."""
    begin = 0
    while begin < len(lines):
        end = lines.find(b"\n", begin + ENCODE_BYTES) + 1 or len(lines)
        yield lines[begin:end]
        begin = end


def encode_block(path: Path, encoder: Callable[[Tokens], Any], labels: Lookup, block: LineBlock) -> Encoded:
    """Encode a block of the data directory `path`.

    encoder   words of a text → an Encoding; `text_encoder()` of a tokenizer (tokens.tokenizer)

    Raises Irregular, and InputError for a pause that cannot be read.
    """
    tables = {name: split_lines(read_span(path / name, span)) for name, span in block.spans.items()}
    keys, tokens, lengths = strings(tables["text"][0]), tables["text"][1], tables["text"][2]
    speakers = strings(tables["utt2spk"][1])
    if not keys[0] or not all(starmap(lt, pairwise(keys))) or (tables["utt2spk"][2] != 1).any():
        raise Irregular
    if any(strings(first) != keys for first, _, _ in tables.values()):
        raise Irregular
    classes = pauses = turns = None
    if "punct" in tables:
        classes = labels.indices(tables["punct"][1]).astype(np.int8)
        if not np.array_equal(tables["punct"][2], lengths) or (classes < 0).any():
            raise Irregular
    if "pauses.scp" in tables:
        rows = read_span(path / "pauses.scp", block.spans["pauses.scp"]).decode().split("\n")[:-1]
        with VectorReader(path / "pauses.scp") as vectors:
            read = [vectors.read(row.partition(" ")[2], block.line + i) for i, row in enumerate(rows)]
        if list(map(len, read)) != lengths.tolist():
            raise Irregular
        pauses = np.concatenate(read)
    if TURNS in tables:
        flags = Lookup(FLAGS, -1).indices(tables[TURNS][1])
        if not np.array_equal(tables[TURNS][2], lengths) or (flags < 0).any():
            raise Irregular
        turns = flags == 1
    encoded = _encoded(encoder(tokens), SlotValues(classes, pauses, turns), map(bytes.decode, speakers), lengths,
                       keys[0].decode(), keys[-1].decode())
    if not all(a[0] < b[0] for a, b in pairwise(encoded.streams)):
        raise Irregular
    return encoded


class SlotValues(NamedTuple):
    """What is known of slots (slots,), or None: labels int8, pauses float32, turns bool."""

    labels: np.ndarray | None
    pauses: np.ndarray | None
    turns: np.ndarray | None

    def at(self, slots: np.ndarray, size: int) -> "SlotValues":
        """The values at the slots' tokens, of `size` tokens."""
        return SlotValues(at_slots(self.labels, slots, size, -1), at_slots(self.pauses, slots, size, np.nan),
                          at_slots(self.turns, slots, size, False))


def _encoded(encoding: Any, values: SlotValues, streams: Iterable[str], lengths: np.ndarray, first: str,
             last: str) -> Encoded:
    """Utterances of these lengths in words; labels, pauses and turns move from the words to their slots' tokens."""
    ids, slots, lost = encoding
    if len(ids) > len(slots):
        ends = np.append(0, slots + 1)[np.cumsum(lengths)]  # of utterances, in tokens
        lengths = np.diff(ends, prepend=0)
        values = values.at(slots, len(ids))
    return Encoded(ids, values.labels, values.pauses, merge_runs(zip(streams, lengths.tolist())), first, last,
                   len(slots), lost, values.turns)


def at_slots(values: np.ndarray | None, slots: np.ndarray, size: int, other: float) -> np.ndarray | None:
    """One value for each of `size` tokens: the slots' values at their tokens, `other` elsewhere. None stays None."""
    if values is None:
        return None
    result = np.full(size, other, values.dtype)
    result[slots] = values
    return result


def merge_runs(pairs: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """(stream, number of tokens) of each utterance → of each run of utterances of one stream."""
    return [(stream, sum(map(itemgetter(1), run))) for stream, run in groupby(pairs, itemgetter(0))]


def encode_by_time(data: DataDir, encoder: Callable[[Tokens], Any], labels: Lookup,
                   batch: int = 1 << 13) -> Iterator[Encoded]:
    """Encode a data directory with `segments`, whose utterances are not in the order of the lines."""
    def tokens(values: Iterable[Iterable[str]]) -> Tokens:
        return split_lines(" ".join(chain("-", *values)).encode() + b"\n")[1]

    utterances = data.utterances()
    while part := list(islice(utterances, batch)):
        classes = labels.indices(tokens(u.labels or () for u in part)).astype(np.int8) if data.has_labels else None
        if classes is not None and (classes < 0).any():
            raise Irregular
        pauses = np.concatenate([u.pauses for u in part]) if data.has_pauses else None
        turns = np.concatenate([u.turns for u in part]) if data.has_turns else None
        yield _encoded(encoder(tokens(u.words for u in part)), SlotValues(classes, pauses, turns),
                       (u.stream for u in part), np.array([len(u.words) for u in part]), part[0].id, part[-1].id)


def explain(data: DataDir, labels: LabelSet | None = None) -> InputError:
    """The error in a data directory that has an irregular block. Reads the directory again from the start."""
    try:
        for _ in data.utterances():
            pass
    except InputError as error:
        return error
    names = labels.names if labels else ()
    for row in data.rows() if labels and data.has_labels else ():
        for name in fields(row["punct"].value):
            if name not in names:
                return InputError(f"label '{name}' is not in the label set", f"it has {' '.join(names)}",
                                  data.path / "punct", row["punct"].line)
    return InputError("changed while it was read", "run the command again", data.path)
