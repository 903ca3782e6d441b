"""Trigger n-grams, which occur near a mark (Gale & Parthasarathy 2017, section 2.2).

The window of a slot is the `before` words up to the slot and the `after` words after it, as far as its stream goes. The
triggers of a mark p are the n-grams with the largest point-wise mutual information

    P(n-gram in window, mark = p) / (P(n-gram in window) P(mark = p))

with probabilities over the slots of the training text. An n-gram is in the windows of a run of slots. Runs of the same
n-gram that overlap are cut, so that a slot counts once even if its window has the n-gram twice. Sums over slots are
differences of cumulative sums. The key of an n-gram is the number whose digits are its words in base `vocab`.
"""

import numpy as np

from punc.base.runs import bounds_of, find_sorted, ranges


def ngram_keys(ids: np.ndarray, n: int, vocab: int) -> np.ndarray:
    """The key of the n-gram that starts at each word except the last n − 1, int64 (N − n + 1,)."""
    ids = np.asarray(ids)
    count = max(len(ids) - n + 1, 0)
    keys = np.zeros(count, np.int64)
    for index in range(n):
        keys = keys * vocab + ids[index:index + count]
    return keys


def runs(ids: np.ndarray, offsets: np.ndarray, n: int, vocab: int, before: int, after: int,
         wanted: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The slots whose windows have each n-gram, or each of the `wanted` n-grams (sorted keys).

    ids, offsets   the words of all streams (N,); stream i is [offsets[i]:offsets[i + 1]]

    Returns runs of slots, int64 (M,) each: the keys of their n-grams, and the first and the last slot of each. They are
    sorted by key and slot; runs of a key are disjoint.
    """
    keys = ngram_keys(ids, n, vocab)
    starts = np.arange(len(keys))
    if wanted is not None:
        starts = np.flatnonzero(find_sorted(wanted, keys) >= 0)
        keys = keys[starts]
    stream = np.searchsorted(offsets, starts, side="right") - 1
    begins, ends = offsets[stream], offsets[stream + 1]
    first = np.maximum(starts + n - 1 - after, begins)
    last = np.minimum(starts + before - 1, ends - 1)
    holds = np.flatnonzero((starts + n <= ends) & (first <= last))
    order = holds[np.argsort(keys[holds], kind="stable")]
    keys, first, last = keys[order], first[order], last[order]
    # Within a key, starts and ends of runs ascend: a run can only overlap the run before it.
    again = 1 + np.flatnonzero(keys[1:] == keys[:-1])
    first[again] = np.maximum(first[again], last[again - 1] + 1)
    new = first <= last
    return keys[new], first[new], last[new]


def select(ids: np.ndarray, labels: np.ndarray, offsets: np.ndarray, vocab: int, n_labels: int, number: int,
           before: int, after: int, min_count: int, longest: int = 3) -> list[np.ndarray]:
    """The keys of the triggers of all marks, one sorted array for each length of 1 to `longest` words.

    labels      the label of each slot; every label except 0 is a mark
    number      maximal number of triggers of a mark; ties go to those in the windows of more marks, then to the shorter
    min_count   a trigger of p is in the windows of at least this many marks p: rare n-grams have a large information
                by chance
    """
    labels = np.asarray(labels)
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for n in range(1, longest + 1):
        keys, first, last = runs(ids, offsets, n, vocab, before, after)
        keys, starts = np.unique(keys, return_index=True)
        if not len(keys):
            found.append((keys, np.zeros((n_labels, 0)), np.zeros(0)))
            continue
        slots = np.add.reduceat(last - first + 1, starts)
        joint = np.empty((n_labels, len(keys)), np.int64)
        for label in range(n_labels):
            sums = bounds_of(labels == label)
            joint[label] = np.add.reduceat(sums[last + 1] - sums[first], starts)
        often = (joint[1:] >= min_count).any(axis=0)
        found.append((keys[often], joint[:, often], slots[often]))
    chosen: list[set[int]] = [set() for _ in range(longest)]
    sizes = np.repeat(np.arange(longest), [len(keys) for keys, _, _ in found])
    keys, slots = np.concatenate([f[0] for f in found]), np.concatenate([f[2] for f in found])
    for label in range(1, n_labels):
        joint = np.concatenate([f[1][label] for f in found])
        enough = np.flatnonzero(joint >= min_count)
        # P(mark = p) is the same for all n-grams.
        best = enough[np.lexsort((sizes[enough], -joint[enough], -joint[enough] / slots[enough]))[:number]]
        for size, key in zip(sizes[best].tolist(), keys[best].tolist()):
            chosen[size].add(key)
    return [np.array(sorted(keys), np.int64) for keys in chosen]


def firing(ids: np.ndarray, offsets: np.ndarray, start: int, stop: int, n: int, vocab: int, before: int,
           after: int, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The wanted n-grams in the windows of the slots [start, stop): slots minus start, and keys, int64 (M,) each."""
    left, right = max(start - before + 1, 0), min(stop + after, len(ids))
    inside = offsets[(offsets > left) & (offsets < right)]
    around = np.concatenate([[left], inside, [right]]) - left
    keys, first, last = runs(ids[left:right], around, n, vocab, before, after, wanted)
    first, last = np.maximum(first + left, start), np.minimum(last + left, stop - 1)
    lengths = np.maximum(last - first + 1, 0)
    return ranges(first - start, lengths), np.repeat(keys, lengths)
