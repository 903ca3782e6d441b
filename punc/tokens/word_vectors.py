"""Reads word vectors for the words of a vocabulary from a text file.

A line consists of a word and its numbers, separated by single spaces: `the 0.418 0.24968 …`. This is GloVe's format
(Pennington et al. 2014). In word2vec's format (Mikolov et al. 2013), a header line `WORDS DIMENSIONS` comes first, and
lines may end with a space. To save time, the numbers of words outside the vocabulary are not parsed.
"""

import contextlib
import logging
import os
from array import array
from collections.abc import Iterator, Sequence, Set

import numpy as np

from punc.base.errors import InputError, StrPath
from punc.base.files import open_input

logger = logging.getLogger(__name__)
BLANKS = b" \r\n"
NUMERIC = b"0123456789+-.eE "  # the characters of finite numbers, and the space between numbers


def read_word_vectors(path: StrPath, words: Sequence[str], dimensions: int) -> np.ndarray:
    """Return the vectors of `words`, float32 (words, dimensions).

    If a word with an apostrophe, such as `don't`, is not in the file, but its parts are (`do` and `n't`), the word gets
    the mean of the parts' vectors. If a word has several such splits, the rarer parts of the splits are compared, and
    the split with the most frequent of these parts is used. The earlier a word is in the file, the more frequent it is
    assumed to be. All other missing words get the file's vector of `<unk>` or, if there is none, the mean of the
    vectors of those `words` that are in the file.

    Raises InputError if a line does not consist of a word and `dimensions` finite numbers, if the file is incomplete or
    contains a word twice, or if it contains none of `words`.
    """
    encoded = [word.encode() for word in words]
    ways = {word: list(_ways(word)) for word in encoded if b"'" in word}
    wanted = {*encoded, b"<unk>", *(part for parts in ways.values() for way in parts for part in way)}
    rows, vectors = _read(path, wanted, dimensions)
    own = [rows[word] for word in encoded if word in rows]
    if not own:
        raise InputError(f"the file has no vector for any of the {len(words)} words",
                         "give vectors of this language", path)
    default = vectors[rows[b"<unk>"]] if b"<unk>" in rows else vectors[own].mean(axis=0, dtype=np.float64)
    # `extra`: vectors to append to those of the file. `composed`: word → index of its vector.
    extra, composed = [default], {}
    for word, parts in ways.items():
        known = [(rows[one], rows[other]) for one, other in parts if one in rows and other in rows]
        if word not in rows and known:
            composed[word] = len(vectors) + len(extra)
            extra.append(vectors[list(min(known, key=max))].mean(axis=0))
    indices = rows | composed
    logger.info("%s: vectors for %d of %d words, and for %d more from their parts", os.fspath(path), len(own),
                len(words), len(extra) - 1)
    return np.concatenate([vectors, np.array(extra, np.float32)])[[indices.get(word, len(vectors)) for word in encoded]]


def _ways(word: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield all ways to split a word in two. A part is never a single apostrophe, which would be a quotation mark."""
    for cut in range(1, len(word)):
        way = word[:cut], word[cut:]
        if b"'" not in way:
            yield way


def _read(path: StrPath, wanted: Set[bytes], dimensions: int) -> tuple[dict[bytes, int], np.ndarray]:
    """Return the wanted words that are in the file, each mapped to the index of its vector, and their vectors, float32
    (N, dimensions)."""
    rows: dict[bytes, int] = {}
    seen: set[bytes] = set()
    lines: list[int] = []
    flat = array("f")
    promised, number = None, 0
    with open_input(path) as file:
        for number, line in enumerate(file, 1):
            word, _, numbers = line.rstrip(BLANKS).partition(b" ")
            if number == 1 and word.isdigit() and numbers.isdigit() and len(max(word, numbers, key=len)) < 19:
                promised = int(word)
                if int(numbers) != dimensions:
                    raise _other_dimensions(int(numbers), dimensions, path, 1)
                continue
            if not line.endswith(b"\n"):
                raise InputError("the last line has no line end: the file is truncated",
                                 "get it again, or remove the line", path, number)
            if numbers.count(b" ") != dimensions - 1 or numbers.translate(None, NUMERIC) or not word:
                raise _misfit(line.rstrip(BLANKS), dimensions, path, number, number == 1 + (promised is not None))
            if word in seen:
                raise InputError(f"'{word.decode('utf-8', 'replace')}' occurs twice", "remove one of its lines", path,
                                 number)
            seen.add(word)
            if word in wanted:
                try:
                    flat.extend(map(float, numbers.split(b" ")))
                except ValueError:
                    raise _misfit(line, dimensions, path, number, False) from None
                rows[word] = len(lines)
                lines.append(number)
    if not number:
        raise InputError("the file is empty", "get it again", path)
    if promised not in (None, len(seen)):
        raise InputError(f"the header says {promised} words, but there are {len(seen)}",
                         "get the file again, or fix the header", path, 1)
    vectors = np.frombuffer(flat, np.float32).reshape(-1, dimensions)
    infinite = np.flatnonzero(~np.isfinite(vectors).all(axis=1))  # rows with numbers that are too large for float32
    if len(infinite):
        raise _misfit(b"", dimensions, path, lines[infinite[0]], False)
    return rows, vectors


def _misfit(line: bytes, dimensions: int, path: StrPath, number: int, first: bool) -> InputError:
    numbers = line.split(b" ")[1:]
    with contextlib.suppress(ValueError):
        if first and len(numbers) not in (1, dimensions) and list(map(float, numbers)):
            return _other_dimensions(len(numbers), dimensions, path, number)
    return InputError(f"the line is not a word and {dimensions} finite numbers, separated by single spaces",
                      "fix or remove the line; in a word, write _ for a space", path, number)


def _other_dimensions(found: int, expected: int, path: StrPath, line: int) -> InputError:
    return InputError(f"vectors of {found} dimensions, but the model's have {expected}",
                      f"set --embedding-dim={found}, or give another file", path, line)
