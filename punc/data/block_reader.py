"""Reads data directories in blocks of complete lines, whose words several processes can count or encode in parallel.

Reading blocks is faster than `DataDir.utterances`, because no Python code runs for each token. The checks of a block
only detect that something is wrong; `explain` then reads the data directory again and returns an error with file and
line.
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

ENCODE_BYTES = 1 << 18  # bytes of text per block for encoding; such blocks fit into the processor's cache
COUNT_BYTES = 1 << 21  # bytes of text per block for counting; larger, because the counts of all blocks must be added up

Encoder = Callable[[Sequence[str]], Any]


class Irregular(Exception):
    """The exception for a block that fails a check. `explain` finds the error."""


class LineBlock(NamedTuple):
    """The same range of lines in all tables of a data directory."""

    line: int  # the number of the first line, from 1
    spans: dict[str, tuple[int, int]]  # table → (offset, size) of its lines, in bytes


class Encoded(NamedTuple):
    """The concatenated tokens of consecutive utterances."""

    ids: np.ndarray  # int32 (N,)
    labels: np.ndarray | None  # int8 (N,), the label numbers; -1 at tokens without a slot
    pauses: np.ndarray | None  # float32 (N,), seconds; NaN: unknown, or a token without a slot
    streams: list[tuple[str, int]]  # (stream, number of tokens) for each run of utterances of the same stream
    first: str  # the id of the first utterance
    last: str
    words: int
    lost: int  # the number of unknown tokens or, if tokens are characters, of characters that were left out
    # bool (N,), whether another speaker says the next word; false at tokens without a slot
    turns: np.ndarray | None = None


def line_blocks(data: DataDir, names: Iterable[str], size: int) -> Iterator[LineBlock]:
    """Cut the tables `names` of a data directory into blocks. Each block but the last contains at least `size` bytes of
    the table `text`. Raises Irregular if a table has more lines than `text`."""
    line = 1
    with ExitStack() as stack:
        files = {name: stack.enter_context(open_input(data.path / name)) for name in names}
        while True:
            starts = {name: file.tell() for name, file in files.items()}
            count = _skip_bytes(files["text"], size)
            if not count:
                break
            for name in files.keys() - {"text"}:
                deque(islice(files[name], count), maxlen=0)  # skips these lines
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
    """Read the lines of a table at `span` (offset, size in bytes), and replace runs of spaces and tabs by single
    spaces. Raises Irregular if the span is empty, and for CR, NUL and invalid UTF-8."""
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
    keys: list[str]  # the first field of each line
    values: list[str]  # all other fields of all lines
    lengths: np.ndarray  # int64 (lines,), the number of values on each line


def split_rows(text: str) -> Rows:
    keys, rests, lengths = [], [], []
    for line in text.split("\n")[:-1]:
        key, _, rest = line.partition(" ")
        keys.append(key)
        lengths.append(rest.count(" ") + 1 if rest else 0)
        if rest:
            rests.append(rest)
    return Rows(keys, " ".join(rests).split(" ") if rests else [], np.array(lengths, np.int64))


def numbers_of(values: Sequence[str], known: Mapping[str, int]) -> np.ndarray:
    """Return the number that `known` assigns to each value, int8, or -1 for an unknown value."""
    return np.fromiter(map(known.get, values, repeat(-1)), np.int8, len(values))


def count_block(path: Path, block: LineBlock) -> Counter[str]:
    return Counter(split_rows(read_span(path / "text", block.spans["text"])).values)


def encode_block(path: Path, encoder: Encoder, labels: Mapping[str, int], block: LineBlock) -> Encoded:
    """Encode a block of the data directory `path`. `encoder` is a tokenizer's method `encode` (tokens.tokenizer).
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
    """Assign the labels, pauses and turns of words (`values`) to the tokens that have the words' slots. `lengths`
    contains the number of words in each utterance."""
    ids, slots, lost = encoding
    if len(ids) > len(slots):
        ends = np.append(0, slots + 1)[np.cumsum(lengths)]  # the end of each utterance, in tokens
        lengths = np.diff(ends, prepend=0)
        values = [at_slots(known, slots, len(ids), other) for known, other in zip(values, (-1, np.nan, False))]
    labels, pauses, turns = values
    runs = merge_runs(zip(streams, lengths.tolist()))
    return Encoded(ids, labels, pauses, runs, first, last, len(slots), lost, turns)


def at_slots(values: np.ndarray | None, slots: np.ndarray, size: int, other: float) -> np.ndarray | None:
    """Return an array (size,) that contains `values` at the indices `slots`, and `other` elsewhere. Returns None if
    `values` is None."""
    if values is None:
        return None
    result = np.full(size, other, values.dtype)
    result[slots] = values
    return result


def merge_runs(pairs: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Merge consecutive (stream, number of tokens) pairs of the same stream, and add up their numbers."""
    return [(stream, sum(map(itemgetter(1), run))) for stream, run in groupby(pairs, itemgetter(0))]


def encode_by_time(data: DataDir, encoder: Encoder, labels: Mapping[str, int],
                   batch: int = 1 << 13) -> Iterator[Encoded]:
    """Encode a data directory with `segments`, whose utterances are read in time order, not in line order."""
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
    """Return the first error in a data directory that has an irregular block. Reads the directory from the start."""
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
