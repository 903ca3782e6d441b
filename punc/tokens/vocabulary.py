"""Vocabularies: the tokens that a model knows. A file has one token a line; the line's number, from 0, is its id."""

import contextlib
import io
import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import repeat

import numpy as np

from punc.base.errors import InputError
from punc.base.files import atomic_file, decode_line, open_input
from punc.base.parallel import map_ordered
from punc.base.spilled_counts import SpilledCounts
from punc.data.block_reader import COUNT_BYTES, Irregular, count_block, explain, line_blocks
from punc.data.datadir import DataDir

UNK, END = 0, 1  # ids of the unknown token and the end of a stream
SPECIALS = ("<unk>", "</s>")
UNUSUAL = re.compile(rb"\A\n|\n\n|[^\n]\Z|[ \t\r\0]")  # in a vocabulary file: errors, or no line end at its end
MOST_TYPES = 1 << 16  # different words that are counted in memory: about 12 MB


class Vocabulary:
    """The tokens that a model knows; a token's id is its index.

    Raises InputError if the first two tokens are not the special ones, or if a token occurs twice.
    """

    def __init__(self, tokens: Iterable[str], file: str | os.PathLike | None = None):
        self.tokens = list(tokens)
        for i, special in enumerate(SPECIALS):
            if self.tokens[i:i + 1] != [special]:
                raise InputError(f"no '{special}' here", "a vocabulary begins <unk>, </s>", file, i + 1)
        self._ids = dict(zip(self.tokens, range(len(self.tokens))))
        if len(self._ids) < len(self.tokens):
            seen: set[str] = set()
            for i, token in enumerate(self.tokens):
                if token in seen:
                    raise InputError(f"'{token}' occurs twice", "keep one line for each token", file, i + 1)
                seen.add(token)

    @classmethod
    def read(cls, path: str | os.PathLike) -> "Vocabulary":
        """Read a vocabulary file. Raises InputError also for empty lines and for blanks in a token."""
        tokens = []
        with open_input(path) as file:
            content = file.read()
            if not UNUSUAL.search(content):  # then no line needs a look: this takes most of the time to load a model
                with contextlib.suppress(UnicodeDecodeError):
                    return cls(content.decode().split("\n")[:-1], path)
            for number, line in enumerate(io.BytesIO(content), 1):
                token = decode_line(line, path, number)
                if not token or " " in token or "\t" in token:
                    raise InputError("not one token", "write one token a line, without blanks", path, number)
                tokens.append(token)
        return cls(tokens, path)

    def write(self, path: str | os.PathLike) -> None:
        """Write a vocabulary file."""
        with atomic_file(path) as file:
            file.writelines(token + "\n" for token in self.tokens)

    def __len__(self) -> int:
        return len(self.tokens)

    def id(self, word: str) -> int:
        """The id of a word; UNK for a word that is not in the vocabulary."""
        return self._ids.get(word, UNK)

    def ids(self, words: Sequence[str]) -> np.ndarray:
        """The ids of words, int32 (len(words),); UNK for a word that is not in the vocabulary."""
        return np.fromiter(map(self._ids.get, words, repeat(UNK)), np.int32, len(words))


def count_vocabulary(sets: Sequence[DataDir], size: int, min_count: int = 1, nj: int = 1) -> Vocabulary:
    """The special tokens and then the `size` most frequent words of data directories; ties in C order.

    min_count   words that occur less often are left out
    nj          processes; the result does not depend on it
    """
    return Vocabulary([*SPECIALS, *most_frequent(count_words(sets, size, nj), size, min_count)])


def count_words(sets: Sequence[DataDir], size: int, nj: int = 1,
                is_token: Callable[[bytes], bool] = bool) -> dict[bytes, int]:
    """How often the `size` most frequent words of data directories occur, without special tokens, as UTF-8.

    is_token   whether a word counts; by default, all do

    Of words that occur equally often, the first in C order are taken. Counts are exact; memory does not grow with the
    number of different words, as MOST_TYPES at a time are in memory, and others in a temporary file.
    """
    counts = SpilledCounts(MOST_TYPES)
    for data in sets:
        try:
            blocks = line_blocks(data, ["text"], COUNT_BYTES)
            for of_block in map_ordered(partial(count_block, data.path), blocks, nj):
                counts.add({word.encode(): number for word, number in of_block.items()})
        except Irregular:
            raise explain(data) from None
    specials = set(map(str.encode, SPECIALS))
    return counts.most_frequent(size, lambda word: word not in specials and is_token(word))


def most_frequent(counts: dict[bytes, int], size: int, min_count: int) -> list[str]:
    """The `size` most frequent tokens that occur at least `min_count` times; ties in C order."""
    numbers = np.fromiter(counts.values(), np.int64, len(counts))
    least = np.partition(numbers, -size)[-size] if len(numbers) > size else 0
    words = sorted(word for word, n in counts.items() if n >= max(least, min_count))
    return [word.decode() for word in sorted(words, key=counts.__getitem__, reverse=True)[:size]]
