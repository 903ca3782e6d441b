"""Vocabularies: the tokens that a model knows, in a file with one token a line, which is its id."""

import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import islice, repeat

import numpy as np

from punc.base.errors import InputError
from punc.base.files import atomic_file, decode_line, open_input
from punc.base.lookup import Lookup
from punc.base.parallel import map_ordered
from punc.data.block_reader import COUNT_BYTES, Irregular, count_block, explain, line_blocks
from punc.data.datadir import DataDir

UNK, END = 0, 1  # ids of the unknown token and the end of a stream
SPECIALS = ("<unk>", "</s>")
MOST_TYPES = 1 << 21  # words counted at once: about 300 MB


class Vocabulary:
    """The tokens that a model knows; a token's id is its place.

    Raises InputError where the first two are not the special ones, or a token stands twice.
    """

    def __init__(self, tokens: Iterable[str], file: str | os.PathLike | None = None):
        self.tokens = list(tokens)
        for i, special in enumerate(SPECIALS):
            if self.tokens[i:i + 1] != [special]:
                raise InputError(f"no '{special}' here", "a vocabulary begins <unk>, </s>", file, i + 1)
        self._ids = {}
        for i, token in enumerate(self.tokens):
            if self._ids.setdefault(token, i) != i:
                raise InputError(f"'{token}' stands twice", "keep one line for each token", file, i + 1)

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


def count_vocabulary(sets: Sequence[DataDir], size: int, min_count: int = 1, nj: int = 1) -> Vocabulary:
    """The `size` most frequent words of data directories behind the special ones; ties in C order.

    Words that occur less than `min_count` times are left out. Memory is bounded as `count_words` says.
    """
    return Vocabulary([*SPECIALS, *most_frequent(count_words(sets, size, nj), size, min_count)])


def count_words(sets: Sequence[DataDir], size: int, nj: int = 1) -> dict[bytes, int]:
    """How often the words of data directories occur, for who wants the `size` most frequent ones; no special tokens.

    Memory is bounded: whenever more than MOST_TYPES words are counted, the rarest half is forgotten
    (as in lossy counting, Manku & Motwani 2002, section 4.2), so a count is too low by at most the sum of
    the counts forgotten at once, which is logged.
    """
    rare, forgotten, most = Counter(), 0, max(MOST_TYPES, 4 * size)
    common, numbers = {}, np.zeros(0, np.int64)
    for data in sets:
        parts = line_blocks(data, ["text"], COUNT_BYTES)
        try:
            if not common:  # the words of the first block, which are most words of any block, are counted in an array
                first = [count_block(data.path, Lookup([], -1), block)[1] for block in islice(parts, 1)]
                common = dict(first[0].most_common()) if first else {}
                numbers = np.fromiter(common.values(), np.int64, len(common))
            for known, others in map_ordered(partial(count_block, data.path, Lookup(list(common), -1)), parts, nj):
                numbers += known
                rare.update(others)
                if len(rare) > most:
                    floor = int(np.partition(np.fromiter(rare.values(), np.int64, len(rare)), -most // 2)[-most // 2])
                    rare = Counter({word: n for word, n in rare.items() if n > floor})
                    forgotten += floor
        except Irregular:
            raise explain(data) from None
    counts = {**dict(zip(common, numbers.tolist())), **rare}
    for special in SPECIALS:
        counts.pop(special.encode(), None)
    if forgotten:
        print(f"{sets[0].path}: counts are up to {forgotten} too low, for memory's sake", file=sys.stderr)
    return counts


def most_frequent(counts: dict[bytes, int], size: int, min_count: int) -> list[str]:
    """The `size` most frequent of some tokens that occur `min_count` times at least; ties in C order."""
    numbers = np.fromiter(counts.values(), np.int64, len(counts))
    least = np.partition(numbers, -size)[-size] if len(numbers) > size else 0
    words = sorted(word for word, n in counts.items() if n >= max(least, min_count))
    return [word.decode() for word in sorted(words, key=counts.__getitem__, reverse=True)[:size]]
