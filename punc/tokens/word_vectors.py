"""Word vectors of a text file, for the words of a vocabulary.

A line is a word and its numbers, parted by single blanks: `the 0.418 0.24968 …`. That is GloVe's format
(Pennington et al. 2014); word2vec's (Mikolov et al. 2013) has a header line before it, `WORDS DIMENSIONS`, and
may end its lines with a blank. A file has ten times the words of a vocabulary, and most of the time would go into
numbers that nobody asked for: of such lines only the number of columns and their characters are checked.
"""

import math
import os
import sys
from array import array
from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.files import open_input

BLANKS = b" \r\n"
NUMERIC = b"0123456789+-.eE "  # no other character is in a finite number


class WordVectors(NamedTuple):
    """Vectors of the words of a vocabulary.

    table     float32 (V, dimensions)
    found     words that have a vector of their own in the file
    composed  words whose vector is the mean of their two parts'
    """

    table: np.ndarray
    found: int
    composed: int


def read_word_vectors(path: str | os.PathLike, words: Sequence[str], dimensions: int) -> WordVectors:
    """The vectors of some words; memory does not grow with the file, but for the names of its words.

    A word with an apostrophe that the file has not, `don't`, is taken in two parts that it has, `do` and `n't`: its
    vector is the mean of theirs. Of several ways, that one is taken whose rarer part is the most frequent, which is
    the one earliest in the file. All other words without a vector share one: that of the file's `<unk>`, or the mean
    of the vectors that were found.

    Raises InputError, with file and line, for whatever is not such a file, for one of other dimensions, and for one
    that has none of the words.
    """
    encoded = [word.encode() for word in words]
    ways = {word: list(_ways(word)) for word in encoded if b"'" in word}
    wanted = {*encoded, b"<unk>", *(part for parts in ways.values() for way in parts for part in way)}
    rows, vectors = _read(path, wanted, dimensions)
    own = [rows[word] for word in encoded if word in rows]
    if not own:
        raise InputError(f"none of the {len(words)} words has a vector here", "name a file of this language and case",
                         path)
    default = vectors[rows[b"<unk>"]] if b"<unk>" in rows else vectors[own].mean(axis=0, dtype=np.float64)
    extra, composed = [default], {}  # vectors that are not of the file, and the words that have them
    for word, parts in ways.items():
        known = [(rows[one], rows[other]) for one, other in parts if one in rows and other in rows]
        if word not in rows and known:
            composed[word] = len(vectors) + len(extra)
            extra.append(vectors[list(min(known, key=max))].mean(axis=0))
    places, default_place = rows | composed, len(vectors)
    table = np.concatenate([vectors, np.array(extra, np.float32)])[[places.get(w, default_place) for w in encoded]]
    print(f"{os.fspath(path)}: vectors of {len(own)} of {len(words)} words, of {len(extra) - 1} more as the mean of "
          "their parts", file=sys.stderr)
    return WordVectors(table, len(own), len(extra) - 1)


def _ways(word: bytes) -> Iterator[tuple[bytes, bytes]]:
    """All ways to take a word in two, but for a lone apostrophe, which is a quote."""
    for cut in range(1, len(word)):
        way = word[:cut], word[cut:]
        if b"'" not in way:
            yield way


def _read(path: str | os.PathLike, wanted: Set[bytes], dimensions: int) -> tuple[dict[bytes, int], np.ndarray]:
    """The wanted words that are there with their rows, in the order of the file, and these, float32 (N, dimensions)."""
    rows, lines, flat = {}, [], array("f")
    for number, word, numbers in _lines(path, dimensions):
        if word in wanted:
            try:
                flat.extend(map(float, numbers.split(b" ")))
            except ValueError:
                raise _misfit(word, numbers, dimensions, path, number, False) from None
            rows[word] = len(lines)
            lines.append(number)
    vectors = np.frombuffer(flat, np.float32).reshape(-1, dimensions)
    infinite = np.flatnonzero(~np.isfinite(vectors).all(axis=1))  # numbers too large for float32
    if len(infinite):
        raise _not_finite([*rows][infinite[0]], path, lines[infinite[0]])
    return rows, vectors


def _lines(path: str | os.PathLike, dimensions: int) -> Iterator[tuple[int, bytes, bytes]]:
    """The number, the word and the numbers of each line behind the header, checked but for the numbers themselves."""
    seen, promised, number = set(), None, 0
    with open_input(path) as file:
        for number, line in enumerate(file, 1):
            word, _, numbers = line.rstrip(BLANKS).partition(b" ")
            if number == 1 and _is_header(word, numbers):
                promised = int(word)
                if int(numbers) != dimensions:
                    raise _other_dimensions(int(numbers), dimensions, path, 1)
                continue
            if not line.endswith(b"\n"):
                raise InputError("the last line has no end: the file is truncated", "get it again, or remove the line",
                                 path, number)
            if numbers.count(b" ") != dimensions - 1 or numbers.translate(None, NUMERIC) or not word:
                raise _misfit(word, numbers, dimensions, path, number, number == 1 + (promised is not None))
            if word in seen:
                raise InputError(f"'{_shown(word)}' stands twice", "remove one of its lines", path, number)
            seen.add(word)
            yield number, word, numbers
    if not number:
        raise InputError("the file is empty", "get it again", path)
    if promised not in (None, len(seen)):
        raise InputError(f"the header says {promised} words, but there are {len(seen)}",
                         "get the file again, or mend the header", path, 1)


def _is_header(word: bytes, numbers: bytes) -> bool:
    return word.isdigit() and numbers.isdigit()


def _misfit(word: bytes, text: bytes, dimensions: int, path: str | os.PathLike, line: int,
            first: bool) -> InputError:
    """What is wrong with a line that is not a word and `dimensions` finite numbers."""
    if _is_header(word, text):
        return InputError("a header line, which only line 1 can be", "remove it", path, line)
    numbers = text.split(b" ") if text else []
    numeric = 0  # numbers at the line's end
    while numeric < len(numbers) and _is_number(numbers[-1 - numeric]):
        numeric += 1
    if numeric == dimensions < len(numbers):
        name = b" ".join([word, *numbers[:-dimensions]])
        return InputError(f"a blank in the word '{_shown(name)}'", "remove the line, or write _ for the blank",
                          path, line)
    if numeric < len(numbers):
        wrong = numbers[-1 - numeric]
        return InputError(f"'{_shown(wrong)}' is no number", "write a word and its numbers, with single blanks between",
                          path, line)
    if not all(math.isfinite(float(value)) for value in numbers):
        return _not_finite(word, path, line)
    if first and numeric > 1:
        return _other_dimensions(numeric, dimensions, path, line)
    if not word or numeric == dimensions:
        return InputError("a line without a word", "begin it with a word, and no blank", path, line)
    return InputError(f"{numeric} numbers, where {dimensions} are expected",
                      "write a word and its numbers, with single blanks between; or get the file again", path, line)


def _not_finite(word: bytes, path: str | os.PathLike, line: int) -> InputError:
    return InputError(f"the vector of '{_shown(word)}' has a value that is not finite", "remove the line", path, line)


def _other_dimensions(found: int, expected: int, path: str | os.PathLike, line: int) -> InputError:
    return InputError(f"vectors of {found} dimensions, but the model's have {expected}",
                      f"set --embedding-dim={found}, or name another file", path, line)


def _is_number(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _shown(word: bytes) -> str:
    return word.decode("utf-8", "replace")
