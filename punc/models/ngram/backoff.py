"""Reads back-off n-gram models from ARPA files and stores them as sorted arrays.

An n-gram w_1 … w_n has the integer key i · V + w_n, where i is the index of w_1 … w_(n−1) among the (n−1)-grams, and V
is the number of tokens. Keys are sorted, so that bisection finds an n-gram.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, islice, repeat
from typing import IO, NamedTuple

import numpy as np

from punc.base.errors import InputError, StrPath
from punc.base.files import open_input
from punc.base.runs import find_sorted

AT_ONCE = 1 << 18  # the number of lines of an ARPA file that are read at a time
LONGEST_NUMBER = 64  # bytes; the maximum length of a number
NEVER = -99.0  # the base-10 logarithm that stands for a probability of 0 in ARPA files
LN10 = np.log(10)


class Order(NamedTuple):
    """The M n-grams of one order: sorted keys, int64 (M,), and natural logarithms of probabilities and back-off
    weights, float32 (M,)."""

    keys: np.ndarray
    log_probs: np.ndarray
    backoffs: np.ndarray


class Backoff:
    """A back-off model over the tokens 0 … size − 1. `orders[0]` contains all tokens."""

    def __init__(self, size: int, orders: Sequence[Order]):
        self.size, self.orders = size, list(orders)

    def check(self) -> None:
        for order in self.orders:
            kinds = [array.dtype.kind for array in order]
            if kinds != ["i", "f", "f"] or {array.shape for array in order} != {(len(order.keys),)}:
                raise ValueError("not the arrays of an order")

    def contexts(self, history: np.ndarray) -> list[np.ndarray]:
        """Look up the last 1, 2, … tokens of each history, int64 (M, H), as n-grams. Returns an array of indices (M,)
        for each length. An index is −1 if the n-gram is not in the model or contains the token −1."""
        found = []
        for length in range(1, min(history.shape[1], len(self.orders) - 1) + 1):
            indices = history[:, -length]
            for order, token in zip(self.orders[1:], range(-length + 1, 0)):
                possible = np.flatnonzero((indices >= 0) & (history[:, token] >= 0))
                keys = indices[possible] * self.size + history[possible, token]
                indices = np.full(len(history), -1, np.int64)
                indices[possible] = find_sorted(order.keys, keys)
            found.append(indices)
        return found

    def log_probs(self, contexts: list[np.ndarray], tokens: np.ndarray) -> np.ndarray:
        """Return log P(token | context), float32 (M,), given the result of `contexts` and tokens (M,) other than −1."""
        result = self.orders[0].log_probs[tokens]
        for below, order, context in zip(self.orders, self.orders[1:], contexts):
            seen = np.flatnonzero(context >= 0)
            indices = find_sorted(order.keys, context[seen] * self.size + tokens[seen])
            known = indices >= 0
            result[seen[known]] = order.log_probs[indices[known]]
            unknown = seen[~known]
            result[unknown] += below.backoffs[context[unknown]]
        return result

def read_arpa(path: StrPath, tokens: Sequence[str], order: int = 0) -> Backoff:
    """Read an ARPA file. Skips n-grams of more than `order` tokens (0: no limit), and n-grams that contain tokens other
    than `tokens`.

    The probability of the file's `<unk>` is divided equally among those `tokens` that are not in the file, so that
    models with different vocabularies can be interpolated. Raises InputError if the file is not an ARPA file or is
    truncated.
    """
    names = {token.encode(): i for i, token in enumerate([*tokens, "<unk>"])}
    orders: list[Order] = []
    with open_input(path) as file:
        counts = _header(file, path)
        for n in range(1, min(order or len(counts), len(counts)) + 1):
            _skip_to(file, f"\\{n}-grams:".encode(), path)
            parts = [_entries(block, names, n, path) for block in _read_lines(file, counts[n - 1], path)]
            ids, log_probs, backoffs = (np.concatenate(column) for column in zip(*parts)) if parts else (
                np.empty((0, n), np.int64), np.empty(0, np.float32), np.empty(0, np.float32))
            orders.append(_unigrams(ids[:, 0], log_probs, backoffs, len(tokens)) if n == 1 else
                          _sorted(ids, log_probs, backoffs, orders, len(tokens)))
    return Backoff(len(tokens), orders)


def _header(file: IO[bytes], path: StrPath) -> list[int]:
    counts = []
    if file.read(6) != b"\\data\\":
        _skip_to(file, b"\\data\\", path)
    for line in file:
        number = line.partition(b"=")[2].strip()
        if line.startswith(b"ngram "):
            if not number.isdigit() or len(number) > 18:
                break
            counts.append(int(number))
        elif counts:
            return counts
    raise InputError("not an ARPA file, or a truncated one", "estimate it again", path)


def _skip_to(file: IO[bytes], mark: bytes, path: StrPath) -> None:
    for line in file:
        if line.strip() == mark:
            return
    raise InputError(f"no {mark.decode()}: not an ARPA file, or a truncated one", "estimate it again", path)


def _read_lines(file: IO[bytes], count: int, path: StrPath) -> Iterator[bytes]:
    while count > 0:
        lines = list(islice(file, min(count, AT_ONCE)))
        if not lines:
            raise InputError("the file ends too early", "estimate it again", path)
        count -= len(lines)
        # Tabs separate fields, and spaces separate words. Some programs end each line with a space.
        block = b"".join(lines).replace(b"\t", b" ").replace(b"\r\n", b"\n").replace(b" \n", b"\n")
        yield block if block.endswith(b"\n") else block + b"\n"


def _entries(block: bytes, names: dict[bytes, int], n: int, path: StrPath) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ids (M, n), log-probabilities (M,) and back-off weights (M,) of the lines whose tokens are in `names`."""
    rows = [line.split(b" ") for line in block.split(b"\n")[:-1]]
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    has_backoff = lengths == n + 2
    try:
        if not (has_backoff | (lengths == n + 1)).all():
            raise ValueError
        words = chain.from_iterable(row[1:n + 1] for row in rows)
        ids = np.fromiter(map(names.get, words, repeat(-1)), np.int64, n * len(rows)).reshape(-1, n)
        log_probs = _numbers([row[0] for row in rows])
        backoffs = np.zeros(len(rows), np.float32)
        backoffs[has_backoff] = _numbers([row[-1] for row in rows if len(row) == n + 2])
    except ValueError:
        raise InputError(f"a line among the {n}-grams is not a {n}-gram", "estimate it again", path) from None
    known = (ids >= 0).all(axis=1)
    return ids[known], log_probs[known], backoffs[known]


def _numbers(fields: list[bytes]) -> np.ndarray:
    if any(len(field) > LONGEST_NUMBER for field in fields):
        raise ValueError
    numbers = np.array(fields, "S").astype(np.float64)
    if np.isnan(numbers).any():
        raise ValueError
    return (numbers.clip(NEVER, -NEVER) * LN10).astype(np.float32)


def _unigrams(ids: np.ndarray, log_probs: np.ndarray, backoffs: np.ndarray, size: int) -> Order:
    """Return the unigrams of all tokens. In `ids`, the file's `<unk>` has the id `size`."""
    unknown, missing = log_probs[ids == size], size - np.count_nonzero(ids < size)
    rest = unknown[0] - np.log(max(int(missing), 1)) if len(unknown) else NEVER * LN10
    all_log_probs = np.full(size + 1, rest, np.float32)
    all_backoffs = np.zeros(size + 1, np.float32)
    all_log_probs[ids], all_backoffs[ids] = log_probs, backoffs
    return Order(np.arange(size), all_log_probs[:-1], all_backoffs[:-1])


def _sorted(ids: np.ndarray, log_probs: np.ndarray, backoffs: np.ndarray, below: list[Order], size: int) -> Order:
    """Return the n-grams sorted by key. Leaves out n-grams that contain the file's `<unk>` (the id `size`), and n-grams
    whose first n − 1 tokens are not an n-gram in `below`."""
    ids, log_probs, backoffs = (array[(ids < size).all(axis=1)] for array in (ids, log_probs, backoffs))
    indices = ids[:, 0]
    for order, column in zip(below[1:], ids[:, 1:-1].T):
        indices = np.where(indices >= 0, find_sorted(order.keys, indices * size + column), -1)
    keys = indices * size + ids[:, -1]
    chosen = np.flatnonzero(indices >= 0)
    chosen = chosen[np.argsort(keys[chosen])]
    return Order(keys[chosen], log_probs[chosen], backoffs[chosen])
