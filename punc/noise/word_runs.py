"""Words in a store: runs of tokens that end with a slot, as the types of a table, and types as tokens again."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from punc.noise.draw import Drawn, spread
from punc.tokens.store_set import StoreSet
from punc.tokens.tokenizer import Tokenizer
from punc.tokens.vocabulary import UNK

BLOCK = 1 << 19  # tokens of a block, at most


class Block(NamedTuple):
    """Some whole words of a set, n of them.

    ids      int32 (tokens,)
    ends     int64 (n,): where each word ends, in `ids`
    labels   int8 (n,)
    pauses   float32 (n,); None if the set has none
    streams  int64: the words with which streams begin; streams without words begin with those after them
    """

    ids: np.ndarray
    ends: np.ndarray
    labels: np.ndarray
    pauses: np.ndarray | None
    streams: np.ndarray

    @property
    def first(self) -> np.ndarray:
        """Whether each word is the first one of a stream, or of the block; bool (n,)."""
        first = np.zeros(len(self.ends), bool)
        first[self.streams] = True
        first[:1] = True
        return first


def blocks(data: StoreSet, size: int = BLOCK) -> Iterator[Block]:
    """The words of a set with labels, block by block; tokens at its end that no slot follows are left out."""
    begin = stream = 0
    assert data.labels is not None, "the set is labelled"
    while begin < len(data.ids):
        labels = data.labels[begin:begin + size]
        slots = np.flatnonzero(labels >= 0)
        if not len(slots):  # a word that is longer than a block
            size *= 2
            if begin + size > 2 * len(data.ids):
                return
            continue
        length = int(slots[-1]) + 1
        last = int(np.searchsorted(data.offsets[:-1], begin + length))
        starts = np.searchsorted(slots + 1, data.offsets[stream:last] - begin, "right")
        yield Block(np.array(data.ids[begin:begin + length]), slots + 1, labels[slots],
                    None if data.pauses is None else data.pauses[begin + slots], starts)
        begin, stream = begin + length, last


class WordRuns:
    """The types of words, by their tokens. A type is the number of the first word with its tokens, from 1.

    types   the type of each word; 0 if it is the unknown token
    """

    def __init__(self, tokenizer: Tokenizer, words: list[str]):
        encoding = tokenizer.encode(words)
        self._tokens, self._ends = np.append(np.int32(UNK), encoding.ids), np.append(1, encoding.slots + 2)
        self._hashes, self._types, same = np.unique(hash_runs(self._tokens, self._ends), return_index=True,
                                                    return_inverse=True)
        self.types = dict(zip(words, self._types[same][1:].tolist()))

    def find(self, block: Block) -> np.ndarray:
        """The types of the words of a block, int64; 0 for runs of tokens that are no known word."""
        hashes = hash_runs(block.ids, block.ends)
        places = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        return np.where(self._hashes[places] == hashes, self._types[places], 0)

    def spell(self, block: Block, drawn: Drawn) -> tuple[np.ndarray, np.ndarray]:
        """The tokens of the words with errors, int32, and where each word ends, int64. Words that are kept keep theirs.
        """
        kept = drawn.kept[drawn.source] & drawn.spoken
        pool = np.concatenate([block.ids, self._tokens])
        starts, lengths = (np.where(kept, own[drawn.source], other[drawn.words]) for own, other in zip(
            _stretches(block.ends, 0), _stretches(self._ends, len(block.ids))))
        return pool[spread(starts, lengths)], np.cumsum(lengths)


def _stretches(ends: np.ndarray, shift: int) -> tuple[np.ndarray, np.ndarray]:
    """Where runs begin, plus `shift`, and their lengths."""
    lengths = np.diff(ends, prepend=0)
    return ends - lengths + shift, lengths


def hash_runs(tokens: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """A 64-bit number for each run of tokens, the same for the same tokens; no run is empty."""
    starts, lengths = _stretches(ends, 0)
    places = np.arange(len(tokens)) - np.repeat(starts, lengths)
    mixed = (tokens.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= places.astype(np.uint64) * np.uint64(0xBF58476D1CE4E5B8) + np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(32)
    return np.add.reduceat(mixed, starts) if len(starts) else np.zeros(0, np.uint64)
