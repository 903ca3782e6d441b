"""Reads data directories fast: several processes count or encode blocks of whole lines.

This is faster than `DataDir.utterances`, because no Python code runs for each token. If a check fails, `explain`
reads the data directory again to find the error, with file, line and remedy.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain, groupby, islice, pairwise, repeat, starmap
from operator import itemgetter, lt
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.files import open_input
from punc.data.datadir import DataDir
from punc.data.kaldi_io import VectorReader
from punc.data.labels import LabelSet
from punc.data.tables import FLAGS, TURNS, fields

# Bytes of text in a block. A block to encode fits the processor's cache. Blocks to count are larger, because adding up
# the counts of each block takes time.
ENCODE_BYTES = 1 << 18
COUNT_BYTES = 1 << 21

Encoder = Callable[[Sequence[str]], Any]


class Irregular(Exception):
    """Raised if a block fails a check. `explain` then finds the error."""


class LineBlock(NamedTuple):
    """Some utterances of a data directory: the same range of lines in each table."""

    line: int  # the number of the first line, from 1
    spans: dict[str, tuple[int, int]]  # table → (offset, size) of these lines in bytes


class Encoded(NamedTuple):
    """The tokens of some utterances, one after another."""

    ids: np.ndarray  # int32 (N,)
    labels: np.ndarray | None  # int8 (N,), -1 at tokens without a slot, or None
    pauses: np.ndarray | None  # float32 (N,), NaN at tokens without a slot, or None
    streams: list[tuple[str, int]]  # (stream, number of tokens) for each run of utterances of one stream
    first: str  # the id of the first utterance
    last: str
    words: int
    lost: int  # how many tokens are unknown, or how many characters were left out
    turns: np.ndarray | None = None  # bool (N,), false at tokens without a slot, or None


def line_blocks(data: DataDir, names: Iterable[str], size: int) -> Iterator[LineBlock]:
    """Cut the tables `names` of a data directory into blocks of at least `size` bytes of `text`, except the last block.
    Raises Irregular if a table has more lines than `text`."""
    line = 1
    with ExitStack() as stack:
        files = {name: stack.enter_context(open_input(data.path / name)) for name in names}
        while True:
            starts = {name: file.tell() for name, file in files.items()}
            count = _skip_bytes(files["text"], size)
            if not count:
                break
            for name in files.keys() - {"text"}:
                deque(islice(files[name], count), maxlen=0)  # skips them
            yield LineBlock(line, {name: (start, files[name].tell() - start) for name, start in starts.items()})
            line += count
        if any(file.read(1) for file in files.values()):
            raise Irregular


def _skip_bytes(file: IO[bytes], size: int) -> int:
    """Skip `size` bytes and the rest of the line. Returns the number of lines skipped."""
    part = file.read(size)
    rest = file.readline() if part[-1:] != b"\n" else b""
    return part.count(b"\n") + rest.count(b"\n") + ((rest or part)[-1:] not in (b"\n", b""))


def read_span(path: Path, span: tuple[int, int]) -> str:
    """Returns a table's lines at (offset, size), with single spaces between fields. Raises Irregular for bad bytes."""
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
        return text.decode()
    except UnicodeDecodeError:
        raise Irregular from None


class Rows(NamedTuple):
    """Lines of a table."""

    keys: list[str]  # the first field of each line
    values: list[str]  # all other fields, line after line
    lengths: np.ndarray  # int64, how many of these other fields each line has


def split_rows(text: str) -> Rows:
    """Splits whole lines with single spaces between fields."""
    keys, rests, lengths = [], [], []
    for line in text.split("\n")[:-1]:
        key, _, rest = line.partition(" ")
        keys.append(key)
        lengths.append(rest.count(" ") + 1 if rest else 0)
        if rest:
            rests.append(rest)
    return Rows(keys, " ".join(rests).split(" ") if rests else [], np.array(lengths, np.int64))


def numbers_of(values: Sequence[str], known: Mapping[str, int]) -> np.ndarray:
    """Looks up the number of each value in the table `known`, int8. An unknown value gets -1."""
    return np.fromiter(map(known.get, values, repeat(-1)), np.int8, len(values))


def count_block(path: Path, block: LineBlock) -> Counter[str]:
    return Counter(split_rows(read_span(path / "text", block.spans["text"])).values)


def encode_block(path: Path, encoder: Encoder, labels: Mapping[str, int], block: LineBlock) -> Encoded:
    """Encode a block of the data directory `path`. `encoder` is the method `encode` of a tokenizer (tokens.tokenizer).
    Raises Irregular if a check fails, and InputError for a pause that cannot be read."""
    tables = {name: split_rows(read_span(path / name, span)) for name, span in block.spans.items()}
    keys, words, lengths = tables["text"]
    if not keys[0] or not all(starmap(lt, pairwise(keys))) or (tables["utt2spk"].lengths != 1).any():
        raise Irregular
    if any(rows.keys != keys for rows in tables.values()):
        raise Irregular
    classes = pauses = turns = None
    if "punct" in tables:
        classes = numbers_of(tables["punct"].values, labels)
        if not np.array_equal(tables["punct"].lengths, lengths) or (classes < 0).any():
            raise Irregular
    if "pauses.scp" in tables:
        rows = read_span(path / "pauses.scp", block.spans["pauses.scp"]).split("\n")[:-1]
        with VectorReader(path / "pauses.scp") as vectors:
            read = [vectors.read(row.partition(" ")[2], block.line + i) for i, row in enumerate(rows)]
        if list(map(len, read)) != lengths.tolist():
            raise Irregular
        pauses = np.concatenate(read)
    if TURNS in tables:
        flags = numbers_of(tables[TURNS].values, {flag: number for number, flag in enumerate(FLAGS)})
        if not np.array_equal(tables[TURNS].lengths, lengths) or (flags < 0).any():
            raise Irregular
        turns = flags == 1
    encoded = _encoded(encoder(words), (classes, pauses, turns), tables["utt2spk"].values, lengths, keys[0], keys[-1])
    if not all(a[0] < b[0] for a, b in pairwise(encoded.streams)):
        raise Irregular
    return encoded


def _encoded(encoding: Any, values: Sequence[np.ndarray | None], streams: Iterable[str], lengths: np.ndarray,
             first: str, last: str) -> Encoded:
    """Makes an Encoded from utterances whose `lengths` are in words. `values` are the words' labels, pauses and turns,
    each of which may be None; the tokens with the words' slots get these values."""
    ids, slots, lost = encoding
    if len(ids) > len(slots):
        ends = np.append(0, slots + 1)[np.cumsum(lengths)]  # where utterances end, in tokens
        lengths = np.diff(ends, prepend=0)
        values = [at_slots(known, slots, len(ids), other) for known, other in zip(values, (-1, np.nan, False))]
    labels, pauses, turns = values
    runs = merge_runs(zip(streams, lengths.tolist()))
    return Encoded(ids, labels, pauses, runs, first, last, len(slots), lost, turns)


def at_slots(values: np.ndarray | None, slots: np.ndarray, size: int, other: float) -> np.ndarray | None:
    """Assigns the values of slots to `size` tokens; tokens without a slot get `other`. Returns None without values."""
    if values is None:
        return None
    result = np.full(size, other, values.dtype)
    result[slots] = values
    return result


def merge_runs(pairs: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Adds up the numbers of tokens of consecutive utterances of a stream. `pairs`: (stream, tokens) per utterance."""
    return [(stream, sum(map(itemgetter(1), run))) for stream, run in groupby(pairs, itemgetter(0))]


def encode_by_time(data: DataDir, encoder: Encoder, labels: Mapping[str, int],
                   batch: int = 1 << 13) -> Iterator[Encoded]:
    """Encode a data directory with `segments`, in which the order of utterances differs from the order of lines."""
    utterances = data.utterances()
    while part := list(islice(utterances, batch)):
        classes = None
        if data.has_labels:
            classes = numbers_of(list(chain.from_iterable(u.labels or () for u in part)), labels)
            if (classes < 0).any():
                raise Irregular
        pauses = np.concatenate([u.pauses for u in part]) if data.has_pauses else None
        turns = np.concatenate([u.turns for u in part]) if data.has_turns else None
        yield _encoded(encoder(list(chain.from_iterable(u.words for u in part))), (classes, pauses, turns),
                       (u.stream for u in part), np.array([len(u.words) for u in part]), part[0].id, part[-1].id)


def explain(data: DataDir, labels: LabelSet | None = None) -> InputError:
    """Returns the error in a data directory with an irregular block. Reads the directory again from the start."""
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
