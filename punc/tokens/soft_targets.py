"""Reads soft targets: a teacher's posteriors in the slots of a store's sets.

    DIR/SET/targets.npy   uint8 (slots, L): the distribution over labels in each slot of a set; 255 stands for 1
    DIR/SET/conf          the number of slots, the CRC-32s of their labels and of the streams' names, and the label set

Every word has one slot, whatever the tokens are, so the targets fit every store of the same data directories that has
the same label set.
"""

import contextlib
import os
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from punc.base.errors import InputError
from punc.data.labels import LabelSet
from punc.tokens.store import Store, crc32_of
from punc.tokens.store_set import StoreSet

TARGETS = "targets.npy"
ONE = 255  # the uint8 that stands for a probability of 1
BLOCK = 1 << 10  # tokens in a block; the number of slots before each block is computed in advance
SUMMED = 1 << 20  # the number of labels that are read into memory at once
AGAIN = "make the soft targets again: punc soft-targets"


def facts_of(data: StoreSet, labels: LabelSet) -> list[str]:
    """Return the properties of a set that its soft targets must match. Raises InputError if the set has no labels."""
    if data.labels is None:
        raise InputError("the set has no labels", "make the store of a data directory with punct")
    slots = labels_crc = streams_crc = 0
    for begin in range(0, len(data.labels), SUMMED):
        known = data.labels[begin:begin + SUMMED]
        known = known[known >= 0]
        slots += len(known)
        labels_crc = zlib.crc32(known.tobytes(), labels_crc)
    for stream in data.streams:
        streams_crc = zlib.crc32(f"{stream}\n".encode(), streams_crc)
    return [f"--slots={slots}", f"--slots-crc={labels_crc}", f"--streams-crc={streams_crc}",
            f"--labels={','.join(labels.names)}"]


class SoftTargets:
    """Looks up the soft targets of the tokens of a set. `parts`, uint8 (slots, L) each, are the targets of the set or,
    for a joined set, of its members in order. `labels`, int8 (N,), are −1 for tokens without a slot."""

    def __init__(self, parts: Sequence[np.ndarray], labels: np.ndarray):
        self._parts, self._labels = parts, labels
        self._starts = np.cumsum([0, *map(len, parts)])
        counts = [np.count_nonzero(labels[begin:begin + BLOCK] >= 0) for begin in range(0, len(labels), BLOCK)]
        self._before = np.cumsum([0, *counts])  # the number of slots before each block of tokens
        assert self._before[-1] == self._starts[-1], "read_targets has compared the slots"

    def __getitem__(self, tokens: np.ndarray) -> np.ndarray:
        """Return distributions, float32 (n, L), for the tokens with the indices `tokens`, (n,). For a token without a
        slot, the first label has probability 1."""
        slots = self._slots(tokens)
        rows = np.zeros((len(tokens), self._parts[0].shape[1]), np.float32)
        part = np.searchsorted(self._starts, slots, "right") - 1
        for number in np.unique(part[slots >= 0]):
            here = part == number
            rows[here] = self._parts[number][slots[here] - self._starts[number]]
        rows[~rows.any(1), 0] = 1
        return rows / rows.sum(1, keepdims=True)

    def _slots(self, tokens: np.ndarray) -> np.ndarray:
        """Return the index of each token's slot among all slots, or −1 for a token without a slot."""
        blocks, own = np.unique(tokens // BLOCK, return_inverse=True)
        has_slot = np.zeros((len(blocks), BLOCK), bool)
        for row, block in enumerate(blocks.tolist()):
            known = self._labels[block * BLOCK:(block + 1) * BLOCK] >= 0
            has_slot[row, :len(known)] = known
        within = has_slot.cumsum(axis=1) - 1
        places = own, tokens % BLOCK
        return np.where(has_slot[places], self._before[blocks][own] + within[places], -1)


def read_targets(directory: Path, store: Store, name: str) -> SoftTargets:
    """Open the soft targets of a set. Raises InputError if they are missing or broken, or do not fit the set's slots or
    labels."""
    data = store.set(name)
    assert data.labels is not None, "the set is labelled"
    members = store.members(name)
    parts = {member: _read_part(directory / member, store, member) for member in dict.fromkeys(members)}
    return SoftTargets([parts[member] for member in members], data.labels)


def _read_part(directory: Path, store: Store, name: str) -> np.ndarray:
    conf, path = directory / "conf", directory / TARGETS
    if not conf.is_file() or not path.is_file():
        raise InputError("the directory has no soft targets for this set", "make them: punc soft-targets", directory)
    facts = facts_of(store.set(name), store.labels)
    if conf.read_text(encoding="utf-8", errors="replace").splitlines()[:len(facts)] != facts:
        raise InputError(f"not the soft targets of '{name}' in {store.path}, or its slots have changed", AGAIN, conf)
    loaded = open_targets(path, facts, store.labels)
    if loaded is None:
        raise InputError("not the soft targets of this set, or truncated", AGAIN, path)
    return loaded


def open_targets(path: Path, facts: Sequence[str], labels: LabelSet) -> np.ndarray | None:
    """Return the targets of a set with the given `facts_of`, or None if the file is missing, broken or of another
    size."""
    shape = int(facts[0].partition("=")[2]), len(labels)
    with contextlib.suppress(Exception):  # np.load raises various exceptions for broken files
        loaded = np.load(path, mmap_mode="r")
        if loaded.dtype == np.uint8 and loaded.shape == shape:
            return loaded
    return None


def targets_checksums(directory: Path, store: Store, name: str) -> dict[str, int]:
    """Return file name → CRC-32 for the soft targets of a set or, if it is a joined set, of its members. File names are
    relative to the store."""
    paths = [directory / member / TARGETS for member in dict.fromkeys(store.members(name))]
    return {os.path.relpath(path, store.path): crc32_of(path) for path in paths}
