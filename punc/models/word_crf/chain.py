"""Posteriors of the labels of a linear chain by forward-backward (Lafferty et al. 2001, section 3).

    P(y | x) ∝ exp Σ_t (scores[t, y_t] + transitions[y_t, y_t+1])

Long streams are cut into chunks. A chunk is read together with some slots on both sides, which count in the next chunk.
The influence of one label on another fades with their distance. Chunks of similar length are computed side by side, so
that Python loops over the slots of one chunk only.
"""

import numpy as np

from punc.base.runs import ranges

CHUNK_SIZE = 512  # slots of a chunk
CONTEXT = 64  # slots on each side of a chunk that are read with it
BATCH_SIZE = 512  # chunks side by side


def log_marginals(scores: np.ndarray, transitions: np.ndarray, offsets: np.ndarray, chunk_size: int = CHUNK_SIZE,
                  context: int = CONTEXT) -> np.ndarray:
    """The log of the marginal probability of each label in each slot, float32 (N, L).

    scores        (N, L), the scores of the labels in each slot
    transitions   (L, L), the scores of pairs: a label (row) and the next one (column)
    offsets       stream i is [offsets[i]:offsets[i + 1]]
    """
    result = np.empty(scores.shape, np.float32)
    follow = np.exp(transitions.astype(np.float64) - transitions.max())
    first, last, begin, end = _chunks(offsets, chunk_size, context)
    order = np.argsort(last - first, kind="stable")
    for start in range(0, len(order), BATCH_SIZE):
        group = order[start:start + BATCH_SIZE]
        lengths = (last - first)[group]
        steps = np.arange(lengths[-1])
        slots = np.minimum(first[group] + steps[:, None], last[group] - 1)  # (T, B)
        sums = _forward_backward(scores[slots], follow, lengths)
        own = (slots >= begin[group]) & (slots < end[group]) & (steps[:, None] < lengths)
        result[slots[own]] = np.log(sums[own])
    return result


def _chunks(offsets: np.ndarray, chunk_size: int, context: int) -> tuple[np.ndarray, ...]:
    """The chunks of streams, four int64 arrays (K,): a chunk reads [first, last) and keeps [begin, end)."""
    lengths = np.diff(offsets)
    count = -(-lengths // chunk_size)
    stream = np.repeat(np.arange(len(lengths)), count)
    number = ranges(np.zeros_like(count), count)
    begin = offsets[stream] + number * chunk_size
    end = np.minimum(begin + chunk_size, offsets[stream + 1])
    return (np.maximum(begin - context, offsets[stream]), np.minimum(end + context, offsets[stream + 1]), begin, end)


def _forward_backward(scores: np.ndarray, follow: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Marginals (T, B, L) of B chains with scores (T, B, L), factors `follow` (L, L) and lengths (B,)."""
    slots = np.exp(scores - scores.max(axis=2, keepdims=True), dtype=np.float64)
    forward, backward = np.empty_like(slots), np.ones_like(slots)
    forward[0] = slots[0]
    for t in range(1, len(slots)):
        ahead = forward[t - 1] @ follow * slots[t]
        forward[t] = ahead / ahead.max(axis=1, keepdims=True)
    for t in range(len(slots) - 2, -1, -1):
        behind = (slots[t + 1] * backward[t + 1]) @ follow.T
        behind /= behind.max(axis=1, keepdims=True)
        backward[t] = np.where((t + 1 < lengths)[:, None], behind, 1)
    sums = forward * backward
    sums = np.maximum(sums, np.finfo(np.float32).tiny * sums.max(axis=2, keepdims=True))
    return sums / sums.sum(axis=2, keepdims=True)
