"""Back-off n-gram models as sorted arrays: read from ARPA files, and asked about many n-grams at once.

An n-gram's key is the place of its first n − 1 tokens among those of one order less, times the number of
tokens, plus its last token; keys are sorted, so an n-gram is found by bisection. All are plain arrays: nothing
but numpy is needed to ask a model, and a file of them is mapped into memory rather than read.
"""

import os
from collections.abc import Iterator, Sequence
from typing import IO, NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.files import open_input
from punc.base.lookup import Lookup, Tokens, split_lines, strings

BLOCK = 1 << 24  # bytes of an ARPA file at once
NEVER = -99.0  # the logarithm, base 10, that ARPA files have for what does not occur
LN10 = np.log(10)


class Order(NamedTuple):
    """The n-grams of one order: keys int64 (M,), sorted; logs and backoffs float32 (M,), natural logarithms."""

    keys: np.ndarray
    logs: np.ndarray
    backoffs: np.ndarray

    def find(self, keys: np.ndarray) -> np.ndarray:
        """The place of each key, -1 for those that are not there."""
        if not len(self.keys):
            return np.full(keys.shape, -1)
        places = np.searchsorted(self.keys, keys).clip(max=len(self.keys) - 1)
        return np.where(self.keys[places] == keys, places, -1)


class Backoff:
    """A back-off model over tokens 0 … size − 1; `orders[0]` has each of them, the others what was seen."""

    def __init__(self, size: int, orders: Sequence[Order]):
        self.size, self.orders = size, list(orders)

    def contexts(self, history: np.ndarray) -> list[np.ndarray]:
        """The places of the last 1, 2, … tokens of histories (M, H) int64, each (M,), -1 where not seen.

        A token −1 is none: nothing that has it was seen.
        """
        found = []
        for length in range(1, min(history.shape[1], len(self.orders) - 1) + 1):
            places = history[:, -length]
            for order, token in zip(self.orders[1:], range(-length + 1, 0)):
                places = self._extend(order, places, history[:, token])
            found.append(places)
        return found

    def log_probs(self, contexts: list[np.ndarray], tokens: np.ndarray) -> np.ndarray:
        """log P(token | context), float32 (M,), of contexts of `contexts` and tokens (M,), none of which is −1."""
        result = self.orders[0].logs[tokens]
        for below, order, context in zip(self.orders, self.orders[1:], contexts):
            seen = np.flatnonzero(context >= 0)
            places = order.find(context[seen] * self.size + tokens[seen])
            there = places >= 0
            result[seen[there]] = order.logs[places[there]]
            absent = seen[~there]
            result[absent] += below.backoffs[context[absent]]
        return result

    def _extend(self, order: Order, places: np.ndarray, tokens: np.ndarray) -> np.ndarray:
        result = np.full(len(places), -1, np.int64)
        possible = np.flatnonzero((places >= 0) & (tokens >= 0))
        result[possible] = order.find(places[possible] * self.size + tokens[possible])
        return result


def read_arpa(path: str | os.PathLike, tokens: Sequence[str], order: int = 0) -> Backoff:
    """Read an ARPA file; n-grams with other tokens than `tokens` are left out, and so are those above `order`.

    The tokens that the file does not have share the probability of its `<unk>` evenly, so that models of texts
    with different words can be interpolated. Raises InputError for a file that
    is no ARPA file, or a truncated one.
    """
    names = Lookup([*tokens, "<unk>"], -1)
    counts, orders = None, []
    with open_input(path) as file:
        counts = _header(file, path)
        for n in range(1, min(order or len(counts), len(counts)) + 1):
            _skip_to(file, f"\\{n}-grams:".encode(), path)
            parts = [_entries(block, names, n, path) for block in _blocks(file, counts[n - 1], path)]
            ids, logs, backoffs = (np.concatenate(column) for column in zip(*parts)) if parts else (
                np.empty((0, n), np.int64), np.empty(0, np.float32), np.empty(0, np.float32))
            orders.append(_unigrams(ids[:, 0], logs, backoffs, len(tokens)) if n == 1 else
                          _sorted(ids, logs, backoffs, orders, len(tokens)))
    return Backoff(len(tokens), orders)


def _header(file: IO[bytes], path: str | os.PathLike) -> list[int]:
    counts = []
    if file.read(6) != b"\\data\\":
        _skip_to(file, b"\\data\\", path)
    for line in file:
        number = line.partition(b"=")[2].strip()
        if line.startswith(b"ngram "):
            if not number.isdigit():
                break
            counts.append(int(number))
        elif counts:
            return counts
    raise InputError("not an ARPA file, or a truncated one", "estimate it again", path)


def _skip_to(file: IO[bytes], mark: bytes, path: str | os.PathLike) -> None:
    for line in file:
        if line.strip() == mark:
            return
    raise InputError(f"no {mark.decode()} here: not an ARPA file, or a truncated one", "estimate it again", path)


def _blocks(file: IO[bytes], count: int, path: str | os.PathLike) -> Iterator[bytes]:
    while count > 0:
        lines = []
        size = 0
        for line in file:
            lines.append(line)
            size += len(line)
            if len(lines) == count or size > BLOCK:
                break
        if not lines:
            raise InputError("it ends too early", "estimate it again", path)
        count -= len(lines)
        # Fields are parted by tabs, words by blanks; some programs end each line with a blank.
        block = b"".join(lines).replace(b"\t", b" ").replace(b"\r\n", b"\n").replace(b" \n", b"\n")
        yield block if block.endswith(b"\n") else block + b"\n"


def _entries(block: bytes, names: Lookup, n: int, path: str | os.PathLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ids (M, n), log-probabilities and back-offs (M,) of lines whose tokens are all known."""
    first, others, counts = split_lines(block)
    starts = np.cumsum(counts) - counts
    try:
        if not ((counts == n) | (counts == n + 1)).all():
            raise ValueError
        ids = np.stack([names.indices(others.at(starts + i)) for i in range(n)], axis=1).astype(np.int64)
        logs, backoffs = _numbers(first), np.zeros(len(counts), np.float32)
        has = counts == n + 1
        backoffs[has] = _numbers(others.at(starts[has] + n))
    except ValueError:
        raise InputError(f"a line of {n}-grams that is no n-gram", "estimate it again", path) from None
    known = (ids >= 0).all(axis=1)
    return ids[known], logs[known], backoffs[known]


def _numbers(tokens: Tokens) -> np.ndarray:
    numbers = np.array(strings(tokens), "S").astype(np.float64)
    if np.isnan(numbers).any():
        raise ValueError
    return (numbers.clip(NEVER, -NEVER) * LN10).astype(np.float32)


def _unigrams(ids: np.ndarray, logs: np.ndarray, backoffs: np.ndarray, size: int) -> Order:
    """One entry a token; the last id is the file's `<unk>`, unless that is among the tokens itself."""
    unknown, missing = logs[ids == size], size - np.count_nonzero(ids < size)
    all_logs = np.full(size + 1, unknown[0] - np.log(max(missing, 1)) if len(unknown) else NEVER * LN10, np.float32)
    all_backoffs = np.zeros(size + 1, np.float32)
    all_logs[ids], all_backoffs[ids] = logs, backoffs
    return Order(np.arange(size), all_logs[:-1], all_backoffs[:-1])


def _sorted(ids: np.ndarray, logs: np.ndarray, backoffs: np.ndarray, below: list[Order], size: int) -> Order:
    ids, logs, backoffs = (array[(ids < size).all(axis=1)] for array in (ids, logs, backoffs))
    places = ids[:, 0]
    for order, column in zip(below[1:], ids[:, 1:-1].T):
        places = np.where(places >= 0, order.find(places * size + column), -1)
    keys = places * size + ids[:, -1]
    chosen = np.flatnonzero(places >= 0)
    chosen = chosen[np.argsort(keys[chosen])]
    return Order(keys[chosen], logs[chosen], backoffs[chosen])
