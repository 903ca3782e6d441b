"""Counts words, and reads and writes vocabularies, which list the tokens that models know.

A vocabulary file has one token per line. A token's id is the number of its line, counted from 0.
"""

import contextlib
import heapq
import io
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby, repeat
from operator import itemgetter
from pathlib import Path
from typing import IO, TypeVar

import numpy as np

from punc.base.errors import InputError, StrPath
from punc.base.files import atomic_file, decode_line, open_input
from punc.base.parallel import map_ordered
from punc.data.block_reader import COUNT_BYTES, Irregular, LineBlock, count_block, explain, line_blocks
from punc.data.datadir import DataDir

Count = TypeVar("Count")


class Vocabulary:
    """The tokens that a model knows. A token's id is its index. Raises InputError if the first two tokens are not
    <unk> and </s>, or a token occurs twice."""

    def __init__(self, tokens: Iterable[str], file: StrPath | None = None):
        self.tokens = list(tokens)
        for i, special in enumerate(SPECIALS):
            if self.tokens[i:i + 1] != [special]:
                raise InputError(f"'{special}' is missing", "a vocabulary begins with <unk> and </s>", file, i + 1)
        self._ids = dict(zip(self.tokens, range(len(self.tokens))))
        if len(self._ids) < len(self.tokens):
            token = next(token for i, token in enumerate(self.tokens) if self._ids[token] != i)
            raise InputError(f"'{token}' occurs twice", "keep one line for each token", file, self._ids[token] + 1)

    @classmethod
    def read(cls, path: StrPath) -> "Vocabulary":
        """Read a vocabulary file. Raises InputError for an empty line, for spaces in a token, and for tokens that the
        class refuses."""
        tokens = []
        with open_input(path) as file:
            content = file.read()
            if _is_usual(content):  # checking each line would take most of the time of loading a model
                with contextlib.suppress(UnicodeDecodeError):
                    return cls(content.decode().split("\n")[:-1], path)
            for number, line in enumerate(io.BytesIO(content), 1):
                token = decode_line(line, path, number)
                if not token or " " in token or "\t" in token:
                    raise InputError("the line is not one token",
                                     "write one token a line, without spaces", path, number)
                tokens.append(token)
        return cls(tokens, path)

    def write(self, path: StrPath) -> None:
        with atomic_file(path) as file:
            file.writelines(token + "\n" for token in self.tokens)

    def __len__(self) -> int:
        return len(self.tokens)

    def id(self, word: str) -> int:
        return self._ids.get(word, UNK)

    def ids(self, words: Sequence[str]) -> np.ndarray:
        """Return the ids of words, int32 (words,). Words that are not in the vocabulary have the id UNK."""
        return np.fromiter(map(self._ids.get, words, repeat(UNK)), np.int32, len(words))


def _is_usual(content: bytes) -> bool:
    if content.startswith(b"\n") or b"\n\n" in content or not content.endswith(b"\n"):
        return False
    return len(content.translate(None, b" \t\r\0")) == len(content)


def count_words(sets: Sequence[DataDir], size: int, nj: int = 1,
                is_token: Callable[[bytes], bool] = bool) -> dict[bytes, int]:
    """Return the `size` most frequent words of data directories, in UTF-8, with their counts. Special tokens and words
    for which `is_token` is false are left out. Ties go to the first words in C-locale order."""
    counts = SpilledCounts(MOST_TYPES)
    for of_block in map_blocks(count_block, sets, nj):
        counts.add({word.encode(): number for word, number in of_block.items()})
    specials = set(map(str.encode, SPECIALS))
    return counts.most_frequent(size, lambda word: word not in specials and is_token(word))


def map_blocks(function: Callable[[Path, LineBlock], Count], sets: Sequence[DataDir], nj: int) -> Iterator[Count]:
    """Apply a function to blocks of the texts of data directories, in `nj` processes. Yields the results."""
    for data in sets:
        try:
            yield from map_ordered(partial(function, data.path), line_blocks(data, ["text"], COUNT_BYTES), nj)
        except Irregular:
            raise explain(data) from None


def most_frequent(counts: dict[bytes, int], size: int, min_count: int) -> list[str]:
    """Return the `size` most frequent tokens that occur `min_count` times or more. Equally frequent tokens are in
    C-locale order."""
    words = sorted(word for word, n in counts.items() if n >= min_count)
    return [word.decode() for word in sorted(words, key=counts.__getitem__, reverse=True)[:size]]


class SpilledCounts:
    """Counts words (bytes without spaces and newlines) with an external merge sort (Knuth 1998, 5.4). If more than
    `limit` distinct words are in memory, they are sorted and written to a temporary file, called a run."""

    def __init__(self, limit: int):
        self._limit = limit
        self._counts: Counter[bytes] = Counter()
        self._runs: list[IO[bytes]] = []

    def add(self, counts: Mapping[bytes, int]) -> None:
        self._counts.update(counts)
        if len(self._counts) > self._limit:
            run = tempfile.TemporaryFile()  # noqa: SIM115 (the file lives as long as the counts)
            run.writelines(b"%b %d\n" % pair for pair in sorted(self._counts.items()))
            self._runs.append(run)
            self._counts.clear()

    def items(self) -> Iterator[tuple[bytes, int]]:
        """Yield words and their counts, in C-locale order."""
        for run in self._runs:
            run.seek(0)
        runs = [map(_parse_pair, run) for run in self._runs]
        for word, pairs in groupby(heapq.merge(*runs, sorted(self._counts.items())), itemgetter(0)):
            yield word, sum(map(itemgetter(1), pairs))

    def most_frequent(self, size: int, wanted: Callable[[bytes], bool]) -> dict[bytes, int]:
        """Return the `size` most frequent words for which `wanted` is true, with their counts. Ties go to the first in
        C-locale order."""
        found = (pair for pair in self.items() if wanted(pair[0]))
        return dict(heapq.nlargest(size, found, key=itemgetter(1)))


def _parse_pair(line: bytes) -> tuple[bytes, int]:
    word, _, count = line.partition(b" ")
    return word, int(count)


UNK, END = 0, 1  # ids of SPECIALS: the unknown token and the end of a stream
SPECIALS = ("<unk>", "</s>")
MOST_TYPES = 1 << 18  # the maximum number of distinct words that are counted in memory (about 50 MB)
