"""Tokens in the bytes of a text, and their numbers in a list: no Python object and no Python step per token."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

SHORT = 16  # bytes; tokens up to this length are compared as two 8-byte numbers
KEEP = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)  # the first n bytes of such a number
MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)  # odd numbers with well mixed bits
NONE = np.uint64(0)


class Tokens(NamedTuple):
    """Tokens of a text: where each begins in `text` and how many bytes it has, int64 (N,)."""

    text: bytes
    starts: np.ndarray
    lengths: np.ndarray

    def at(self, chosen: np.ndarray) -> "Tokens":
        """Some of the tokens, by indices or a mask."""
        return Tokens(self.text, self.starts[chosen], self.lengths[chosen])


def split_lines(text: bytes) -> tuple[Tokens, Tokens, np.ndarray]:
    """The first token of each line, all other tokens, and how many others each line has, int64 (lines,).

    text   lines that end with a newline; single blanks separate their tokens
    """
    array = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero((array == 32) | (array == 10))
    starts = np.append(0, ends[:-1] + 1)
    last = np.flatnonzero(array[ends] == 10)  # of each line
    first = np.append(0, last[:-1] + 1)
    other = np.ones(len(ends), bool)
    other[first] = False
    tokens = Tokens(text, starts, ends - starts)
    return tokens.at(first), tokens.at(other), last - first


def strings(tokens: Tokens) -> list[bytes]:
    """The tokens as bytes."""
    return [tokens.text[i:i + n] for i, n in zip(tokens.starts.tolist(), tokens.lengths.tolist())]


class Lookup:
    """Token → its index in a list, or `missing` if it is not there: a hash table with linear probing.

    A token of at most 16 bytes is two numbers, padded with zeros. No token has a NUL byte, so equal numbers mean equal
    tokens. Longer tokens are in a dictionary.
    """

    def __init__(self, tokens: Sequence[str | bytes], missing: int):
        self.missing = np.int32(missing)
        encoded = [token.encode() if isinstance(token, str) else token for token in tokens]
        self.long = {token: i for i, token in enumerate(encoded) if len(token) > SHORT}
        lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
        low, high = _numbers(Tokens(b"".join(encoded), np.cumsum(lengths) - lengths, lengths))
        self.low, self.high = np.append(low, NONE), np.append(high, NONE)  # index -1 of an empty slot
        self.bits = max(4, (4 * len(encoded)).bit_length())
        # The table has only indices; the numbers to compare are in the tokens' order, frequent ones close together.
        table = [-1] * (1 << self.bits)
        for i, slot in enumerate(self._slots(low, high).tolist()):
            if lengths[i] <= SHORT:
                while table[slot] >= 0:
                    slot = (slot + 1) % len(table)
                table[slot] = i
        self.table = np.array(table, np.int32)

    def _slots(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        return ((low * MIX[0] ^ high * MIX[1]) * MIX[0] >> np.uint64(64 - self.bits)).astype(np.int64)

    def __len__(self) -> int:
        return len(self.low) - 1

    def indices(self, tokens: Tokens) -> np.ndarray:
        """The index of each token, int32 (N,)."""
        low, high = _numbers(tokens)
        slots = self._slots(low, high)
        found = self.table[slots]
        wrong = np.flatnonzero((self.low[found] != low) | (self.high[found] != high) | (found < 0))
        while len(wrong):
            empty = found[wrong] < 0
            found[wrong[empty]] = self.missing
            wrong = wrong[~empty]
            slots[wrong] = (slots[wrong] + 1) % len(self.table)
            found[wrong] = self.table[slots[wrong]]
            same = (self.low[found[wrong]] == low[wrong]) & (self.high[found[wrong]] == high[wrong])
            wrong = wrong[~same | (found[wrong] < 0)]
        long = np.flatnonzero(tokens.lengths > SHORT)
        if len(long):
            found[long] = [self.long.get(token, self.missing) for token in strings(tokens.at(long))]
        return found


def _numbers(tokens: Tokens) -> tuple[np.ndarray, np.ndarray]:
    """Bytes 1 to 8 and 9 to 16 of each token as numbers, uint64 (N,) each."""
    text = tokens.text + bytes(SHORT)
    # A number begins at every byte. Today's processors read unaligned numbers as fast as aligned ones.
    at = np.ndarray(len(text) - 7, "<u8", text, strides=(1,))
    low = at[tokens.starts] & KEEP[np.minimum(tokens.lengths, 8)]
    high = np.zeros_like(low)
    longer = np.flatnonzero(tokens.lengths > 8)
    high[longer] = at[tokens.starts[longer] + 8] & KEEP[np.minimum(tokens.lengths[longer] - 8, 8)]
    return low, high
