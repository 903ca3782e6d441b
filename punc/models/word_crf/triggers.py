"""Trigger n-grams: those that go with a mark somewhere near them (Gale & Parthasarathy 2017, section 2.2).

The window of a slot is the `before` words up to it and the `after` words behind it, as far as its stream goes. Of a
mark p those n-grams are its triggers that have the largest point-wise mutual information

    P(n-gram in window, mark = p) / (P(n-gram in window) P(mark = p))

with probabilities over the slots of the training text. An n-gram is in the windows of a run of slots; runs of
the same n-gram that touch or overlap are joined, so that a slot counts once however often its window holds it.
Then sums over slots are differences of cumulative sums, and no window is ever written out.

An n-gram has a key, the number whose digits are its words in base `vocabulary`.
"""

from typing import NamedTuple

import numpy as np


class Runs(NamedTuple):
    """Runs of slots whose windows hold an n-gram, int64 (M,), by key and then by place; no slot is in two of a key.

    keys           the n-gram
    first, last    the run is the slots first … last
    """

    keys: np.ndarray
    first: np.ndarray
    last: np.ndarray


def ngram_keys(ids: np.ndarray, n: int, vocabulary: int) -> np.ndarray:
    """The key of the n-gram that begins at each word but the last n − 1, int64 (N − n + 1,)."""
    ids = np.asarray(ids)
    count = max(len(ids) - n + 1, 0)
    keys = np.zeros(count, np.int64)
    for place in range(n):
        keys = keys * vocabulary + ids[place:place + count]
    return keys


def runs(ids: np.ndarray, offsets: np.ndarray, n: int, vocabulary: int, before: int, after: int,
         wanted: np.ndarray | None = None) -> Runs:
    """Where the windows hold which n-grams, of all or of the `wanted` ones (sorted keys).

    ids, offsets   the words of all streams (N,); stream i is [offsets[i]:offsets[i + 1]]
    """
    keys = ngram_keys(ids, n, vocabulary)
    places = np.arange(len(keys))
    if wanted is not None:
        places = np.flatnonzero(find(wanted, keys) >= 0)
        keys = keys[places]
    stream = np.searchsorted(offsets, places, side="right") - 1
    begins, ends = offsets[stream], offsets[stream + 1]
    first = np.maximum(places + n - 1 - after, begins)
    last = np.minimum(places + before - 1, ends - 1)
    holds = np.flatnonzero((places + n <= ends) & (first <= last))
    order = holds[np.argsort(keys[holds], kind="stable")]
    keys, first, last = keys[order], first[order], last[order]
    # Places rise within a key, and so do the runs' ends: what is already in a run was in the one before.
    again = 1 + np.flatnonzero(keys[1:] == keys[:-1])
    first[again] = np.maximum(first[again], last[again - 1] + 1)
    new = first <= last
    return Runs(keys[new], first[new], last[new])


def find(table: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """The place of each key in a sorted table, −1 for those that are not there, int64."""
    if not len(table):
        return np.full(len(keys), -1)
    places = np.minimum(np.searchsorted(table, keys), len(table) - 1)
    return np.where(table[places] == keys, places, -1)


def select(ids: np.ndarray, labels: np.ndarray, offsets: np.ndarray, vocabulary: int, n_labels: int, number: int,
           before: int, after: int, least: int, longest: int = 3) -> list[np.ndarray]:
    """The keys of the triggers of all marks, one sorted array for each length of 1 to `longest` words.

    labels     the label of each slot; every label but 0 is a mark
    number     triggers of a mark, at most; of equals those that go with more marks, then the shorter ones
    least      marks p whose windows hold a trigger of p, at least: rare n-grams have the largest information by chance
    """
    labels, found = np.asarray(labels), []
    for n in range(1, longest + 1):
        held = runs(ids, offsets, n, vocabulary, before, after)
        keys, starts = np.unique(held.keys, return_index=True)
        if not len(keys):
            found.append((keys, np.zeros((n_labels, 0)), np.zeros(0)))
            continue
        slots = np.add.reduceat(held.last - held.first + 1, starts)
        joint = np.empty((n_labels, len(keys)), np.int64)
        for label in range(n_labels):
            sums = np.append(0, np.cumsum(labels == label))
            joint[label] = np.add.reduceat(sums[held.last + 1] - sums[held.first], starts)
        often = (joint[1:] >= least).any(axis=0)
        found.append((keys[often], joint[:, often], slots[often]))
    chosen = [set() for _ in range(longest)]
    sizes = np.repeat(np.arange(longest), [len(keys) for keys, _, _ in found])
    keys, slots = np.concatenate([f[0] for f in found]), np.concatenate([f[2] for f in found])
    for label in range(1, n_labels):
        joint = np.concatenate([f[1][label] for f in found])
        enough = np.flatnonzero(joint >= least)
        # The mark's own probability is the same for all.
        best = enough[np.lexsort((sizes[enough], -joint[enough], -joint[enough] / slots[enough]))[:number]]
        for size, key in zip(sizes[best].tolist(), keys[best].tolist()):
            chosen[size].add(key)
    return [np.array(sorted(keys), np.int64) for keys in chosen]


def firing(ids: np.ndarray, offsets: np.ndarray, start: int, stop: int, n: int, vocabulary: int, before: int,
           after: int, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The slots in [start, stop), counted from start, and the wanted n-grams in their windows: int64 (M,) each."""
    left, right = max(start - before + 1, 0), min(stop + after, len(ids))
    inside = offsets[(offsets > left) & (offsets < right)]
    around = np.concatenate([[left], inside, [right]]) - left
    held = runs(ids[left:right], around, n, vocabulary, before, after, wanted)
    first, last = np.maximum(held.first + left, start), np.minimum(held.last + left, stop - 1)
    lengths = np.maximum(last - first + 1, 0)
    behind = np.cumsum(lengths) - lengths
    slots = np.repeat(first - start - behind, lengths) + np.arange(lengths.sum())
    return slots, np.repeat(held.keys, lengths)
