"""Stores: data directories as a vocabulary and flat memory-mapped arrays, which is what models train on.

    STORE/vocab               one token a line, the line is its id: <unk>, </s>, then the most frequent first
    STORE/labels.txt          the label set
    STORE/conf                --name=value lines: the unit and the options
    STORE/<set>/ids.npy       int32 (N,), the tokens of all streams one after another
    STORE/<set>/labels.npy    int8 (N,), the label of the slot after each token, -1 where there is no slot
    STORE/<set>/pauses.npy    float32 (N,), seconds after each token, NaN unknown
    STORE/<set>/index         stream offset length, one line a stream

No `</s>` is stored: who reads a stream adds it at the end.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, repeat
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.datadir import DataDir, Utterance
from punc.errors import InputError
from punc.files import atomic_dir, atomic_file, decode_line, open_input, read_lines
from punc.labels import LabelSet

UNK, END = 0, 1  # ids of the unknown token and the end of a stream
SPECIALS = ("<unk>", "</s>")
UNITS = ("word",)
BATCH = 1 << 13  # utterances encoded at once


class Vocabulary:
    """The tokens that a model knows; a token's id is its place.

    Raises InputError where the first two are not the special ones, or a token stands twice.
    """

    def __init__(self, tokens: Iterable[str], file: str | os.PathLike | None = None):
        self.tokens = list(tokens)
        for i, special in enumerate(SPECIALS):
            if self.tokens[i:i + 1] != [special]:
                raise InputError(f"no '{special}' here", "a vocabulary begins <unk>, </s>", file, i + 1)
        self._ids = {token: i for i, token in enumerate(self.tokens)}
        if len(self._ids) < len(self.tokens):
            line, token = next((i, t) for i, t in enumerate(self.tokens) if self._ids[t] != i)
            raise InputError(f"'{token}' stands twice", "keep one line for each token", file, line + 1)

    @classmethod
    def read(cls, path: str | os.PathLike) -> "Vocabulary":
        """Read a vocabulary, one token a line. Raises InputError, also for empty lines and blanks in a token."""
        tokens = []
        with open_input(path) as file:
            for number, line in enumerate(file, 1):
                token = decode_line(line, path, number)
                if not token or " " in token or "\t" in token:
                    raise InputError("not one token", "write one token a line, without blanks", path, number)
                tokens.append(token)
        return cls(tokens, path)

    def write(self, path: str | os.PathLike) -> None:
        with atomic_file(path) as file:
            file.writelines(token + "\n" for token in self.tokens)

    def __len__(self) -> int:
        return len(self.tokens)

    def ids(self, words: Sequence[str]) -> np.ndarray:
        """The ids of some words, int32 (len(words),); UNK for those that are not in the vocabulary."""
        return np.fromiter(map(self._ids.get, words, repeat(UNK)), np.int32, len(words))


class StoreSet(NamedTuple):
    """One data directory of a store, read only and memory-mapped.

    ids      int32 (N,)
    labels   int8 (N,), -1 where there is no slot; None where the directory has no labels
    pauses   float32 (N,) in seconds, NaN unknown; None where the directory has none
    streams  the streams' names
    offsets  int64 (len(streams) + 1,): stream i is [offsets[i]:offsets[i + 1]] of the arrays
    """

    ids: np.ndarray
    labels: np.ndarray | None
    pauses: np.ndarray | None
    streams: list[str]
    offsets: np.ndarray


class Store:
    """A store on disk: `vocabulary`, `labels`, `unit`, `sets` (names), and `set(name)`.

    Raises InputError for a directory that is no store, or an unfinished one.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = Path(path)
        if not self.path.is_dir():
            raise InputError("no such directory", "make it: punc make-store", path)
        if not (self.path / "conf").is_file() or not (self.path / "vocab").is_file():
            raise InputError("not a store, or an unfinished one", "make it: punc make-store", path)
        self.conf = dict(line[2:].split("=", 1) for _, line in read_lines(self.path / "conf"))
        self.unit = self.conf["unit"]
        self.vocabulary = Vocabulary.read(self.path / "vocab")
        self.labels = LabelSet.read(self.path / "labels.txt")
        self.sets = sorted(index.parent.name for index in self.path.glob("*/index"))

    def set(self, name: str) -> StoreSet:
        """Open one set. Raises InputError where it is missing, truncated, or its files do not fit together."""
        folder = self.path / name
        if name not in self.sets:
            raise InputError(f"no set '{name}' in the store", f"it has {' '.join(self.sets)}", self.path)
        ids = _open_array(folder / "ids.npy", np.int32)
        labels, pauses = (_open_array(folder / f, kind) if (folder / f).exists() else None
                          for f, kind in (("labels.npy", np.int8), ("pauses.npy", np.float32)))
        with open_input(folder / "index") as file:
            columns = file.read().decode().split()
        streams, starts, lengths = columns[0::3], np.array(columns[1::3], np.int64), np.array(columns[2::3], np.int64)
        offsets = np.append(starts, len(ids))
        if any(len(a) != len(ids) for a in (labels, pauses) if a is not None) or (np.diff(offsets) != lengths).any():
            raise InputError("its files do not fit together", "make it again: punc make-store", folder)
        return StoreSet(ids, labels, pauses, streams, offsets)


def _open_array(path: Path, kind: type) -> np.ndarray:
    try:
        array = np.load(path, mmap_mode="r")
        if array.dtype == kind and array.ndim == 1:
            return array
    except FileNotFoundError:
        raise InputError("no such file", "make the store again: punc make-store", path) from None
    except (ValueError, EOFError, OSError):
        pass
    raise InputError(f"not a flat {np.dtype(kind)} array, or truncated", "make the store again: punc make-store", path)


def make_store(path: str | os.PathLike, data_dirs: Sequence[str | os.PathLike], labels: str | os.PathLike,
               unit: str = "word", vocab_size: int = 100000, vocab: str | os.PathLike | None = None,
               train: str | None = None, nj: int = 2) -> None:
    """Make a store of some data directories; each is a set, named as the directory."""
    sets = {Path(d).resolve().name: DataDir(d) for d in data_dirs}
    label_set = LabelSet.read(labels)
    source = sets[train] if train else next(iter(sets.values()))
    vocabulary = Vocabulary.read(vocab) if vocab else count_vocabulary(source, vocab_size)
    with atomic_dir(path) as beside:
        vocabulary.write(beside / "vocab")
        label_set.write(beside / "labels.txt")
        for name, data in sets.items():
            (beside / name).mkdir()
            _write_set(beside / name, data, vocabulary, label_set)
        (beside / "conf").write_text(f"--unit={unit}\n--vocab-size={vocab_size}\n")


def count_vocabulary(data: DataDir, size: int) -> Vocabulary:
    """The `size` most frequent words of a data directory behind the special ones; ties in C order."""
    counts = Counter()
    for utterance in data.utterances():
        counts.update(utterance.words)
    for special in SPECIALS:
        counts.pop(special, None)
    best = sorted(counts.items(), key=lambda item: (-item[1], item[0].encode()))[:size]
    return Vocabulary([*SPECIALS, *(word for word, _ in best)])


def _batches(data: DataDir) -> Iterator[list[Utterance]]:
    utterances = data.utterances()
    while batch := list(islice(utterances, BATCH)):
        yield batch


def _write_set(folder: Path, data: DataDir, vocabulary: Vocabulary, labels: LabelSet) -> None:
    index = {name: i for i, name in enumerate(labels.names)}
    parts, label_parts, pause_parts, lengths = [], [], [], {}
    for batch in _batches(data):
        words = list(chain.from_iterable(u.words for u in batch))
        parts.append(vocabulary.ids(words))
        for u in batch:
            lengths[u.stream] = lengths.get(u.stream, 0) + len(u.words)
        if data.has_labels:
            names = chain.from_iterable(u.labels for u in batch)
            label_parts.append(np.fromiter(map(index.__getitem__, names), np.int8, len(words)))
        if data.has_pauses:
            pause_parts.extend(u.pauses for u in batch)
    for name, arrays in ("ids", parts), ("labels", label_parts), ("pauses", pause_parts):
        if arrays:
            np.save(folder / f"{name}.npy", np.concatenate(arrays))
    offset = 0
    with open(folder / "index", "w", encoding="utf-8") as file:
        for stream, length in lengths.items():
            file.write(f"{stream} {offset} {length}\n")
            offset += length
