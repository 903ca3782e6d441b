"""Data directories at full speed: blocks of whole lines, which several processes count or encode.

The fast side of `DataDir.utterances`: the same tables, order and checks, but a block of lines at a time,
with no Python step per token. A block where a check fails is not explained here: `explain` lets the
data directory itself find the error, with file, line and remedy.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import chain, groupby, islice, pairwise, starmap
from operator import itemgetter, lt
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.files import open_input
from punc.base.lookup import Lookup, Tokens, split_lines, strings
from punc.data.datadir import DataDir
from punc.data.kaldi_io import VectorReader
from punc.data.labels import LabelSet
from punc.data.tables import fields

# Bytes of text in a block: to encode, what fits a processor's cache; to count, more, as the counts of blocks are added.
# Both are fixed, since what is forgotten in counting must not depend on the number of processes.
ENCODE_BLOCK, COUNT_BLOCK = 1 << 18, 1 << 21


class Irregular(Exception):
    """A block fails a check; `explain` finds which."""


class Block(NamedTuple):
    """Some utterances of a data directory: the number of their first line, and where they stand in each table.

    places   table → (offset, size) in bytes, the same number of lines in each
    """

    line: int
    places: dict[str, tuple[int, int]]


class Encoded(NamedTuple):
    """The tokens of some utterances, one after another.

    ids      int32 (N,)
    labels   int8 (N,), -1 where there is no slot, or None
    pauses   float32 (N,), NaN there, or None
    streams  (stream, tokens) for each run of utterances of one stream
    first    the first utterance's id; `last` the last one's
    words    how many there are
    lost     unknown tokens, or characters left out
    """

    ids: np.ndarray
    labels: np.ndarray | None
    pauses: np.ndarray | None
    streams: list[tuple[str, int]]
    first: str
    last: str
    words: int
    lost: int


def blocks(data: DataDir, names: Iterable[str], size: int) -> Iterator[Block]:
    """Cut the tables `names` of a data directory into blocks. Raises Irregular where one has more lines than `text`."""
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
            yield Block(line, {name: (start, files[name].tell() - start) for name, start in starts.items()})
            line += count
        if any(file.read(1) for file in files.values()):
            raise Irregular


def _skip_bytes(file, size: int) -> int:
    """Move over `size` bytes and on to the end of the line; returns the lines passed."""
    part = file.read(size)
    rest = file.readline() if len(part) == size and part[-1:] != b"\n" else b""
    return part.count(b"\n") + rest.count(b"\n") + ((rest or part)[-1:] not in (b"\n", b""))


def _skip_lines(file, count: int) -> None:
    """Move over `count` lines, or what there is of them."""
    start = file.tell()
    while count > 0 and (part := file.read(1 << 20)):
        ends = np.flatnonzero(np.frombuffer(part, np.uint8) == 10)
        if len(ends) >= count:
            start += int(ends[count - 1]) + 1
            break
        start, count = start + len(part), count - len(ends)
    file.seek(start)


def text_of(path: Path, place: tuple[int, int]) -> bytes:
    """The lines at a place of a table, their fields parted by single blanks. Raises Irregular for bad bytes."""
    with open_input(path) as file:
        file.seek(place[0])
        text = file.read(place[1])
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


def count(path: Path, known: Lookup, block: Block) -> tuple[np.ndarray, Counter]:
    """How often each word stands in a block: int64 (len(known),), and token → count of the others."""
    words = split_lines(text_of(path / "text", block.places["text"]))[1]
    places = known.places(words)
    return np.bincount(places + 1, minlength=len(known) + 1)[1:], Counter(strings(words.at(np.flatnonzero(places < 0))))


def encode(path: Path, code: Callable, labels: Lookup, block: Block) -> Encoded:
    """Encode a block of the data directory `path`. Raises Irregular, and InputError for a pause that is not there.

    code   tokens of a text, which are words → an Encoding: `text_encoder()` of a tokenizer (tokens.tokenizer)
    """
    tables = {name: split_lines(text_of(path / name, place)) for name, place in block.places.items()}
    keys, tokens, lengths = strings(tables["text"][0]), tables["text"][1], tables["text"][2]
    speakers = strings(tables["utt2spk"][1])
    if not keys[0] or not all(starmap(lt, pairwise(keys))) or (tables["utt2spk"][2] != 1).any():
        raise Irregular
    if any(strings(first) != keys for first, _, _ in tables.values()):
        raise Irregular
    classes = pauses = None
    if "punct" in tables:
        classes = labels.places(tables["punct"][1]).astype(np.int8)
        if not np.array_equal(tables["punct"][2], lengths) or (classes < 0).any():
            raise Irregular
    if "pauses.scp" in tables:
        places = text_of(path / "pauses.scp", block.places["pauses.scp"]).decode().split("\n")[:-1]
        with VectorReader(path / "pauses.scp") as vectors:
            read = [vectors.read(row.partition(" ")[2], block.line + i) for i, row in enumerate(places)]
        if list(map(len, read)) != lengths.tolist():
            raise Irregular
        pauses = np.concatenate(read)
    encoded = _encoded(code(tokens), classes, pauses, map(bytes.decode, speakers), lengths, keys[0].decode(),
                       keys[-1].decode())
    if not all(a[0] < b[0] for a, b in pairwise(encoded.streams)):
        raise Irregular
    return encoded


def _encoded(encoding, labels: np.ndarray | None, pauses: np.ndarray | None, streams: Iterable[str],
             lengths: np.ndarray, first: str, last: str) -> Encoded:
    """Utterances with these numbers of words, whose labels and pauses go to the words' slots."""
    ids, slots, lost = encoding
    if len(ids) > len(slots):
        ends = np.append(0, slots + 1)[np.cumsum(lengths)]  # of the utterances, in tokens
        lengths = np.diff(ends, prepend=0)
        labels, pauses = at_slots(labels, slots, len(ids), -1), at_slots(pauses, slots, len(ids), np.nan)
    return Encoded(ids, labels, pauses, runs_of(zip(streams, lengths.tolist())), first, last, len(slots), lost)


def at_slots(values: np.ndarray | None, slots: np.ndarray, size: int, other: float) -> np.ndarray | None:
    """One value for each of `size` tokens: those of the slots at their tokens, `other` elsewhere; None of None."""
    if values is None:
        return None
    result = np.full(size, other, values.dtype)
    result[slots] = values
    return result


def runs_of(pairs: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """(stream, tokens) of each utterance → of each run of utterances of one stream."""
    return [(stream, sum(map(itemgetter(1), run))) for stream, run in groupby(pairs, itemgetter(0))]


def encode_by_time(data: DataDir, code: Callable, labels: Lookup, batch: int = 1 << 13) -> Iterator[Encoded]:
    """Encode a data directory with `segments`, whose utterances are not in the order of the lines."""
    def tokens(values: Iterable[Iterable[str]]) -> Tokens:
        return split_lines(b"- " + " ".join(chain.from_iterable(values)).encode() + b"\n")[1]

    utterances = data.utterances()
    while part := list(islice(utterances, batch)):
        classes = labels.places(tokens(u.labels for u in part)).astype(np.int8) if data.has_labels else None
        if data.has_labels and (classes < 0).any():
            raise Irregular
        yield _encoded(code(tokens(u.words for u in part)), classes,
                       np.concatenate([u.pauses for u in part]) if data.has_pauses else None,
                       (u.stream for u in part), np.array([len(u.words) for u in part]), part[0].id, part[-1].id)


def explain(data: DataDir, labels: LabelSet | None = None) -> InputError:
    """The error of a data directory in which a block was irregular. Reads it again from the start."""
    try:
        for _ in data.utterances():
            pass
    except InputError as error:
        return error
    for row in data.rows() if labels and data.has_labels else ():
        for name in fields(row["punct"].value):
            if name not in labels.names:
                return InputError(f"label '{name}' is not in the label set", f"it has {' '.join(labels.names)}",
                                  data.path / "punct", row["punct"].line)
    raise RuntimeError(f"{data.path} changed while it was read")
