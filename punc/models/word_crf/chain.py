"""Posteriors of the labels of a linear chain by forward-backward (Lafferty et al. 2001, section 3).

    P(y | x) ∝ exp Σ_t (scores[t, y_t] + transitions[y_t, y_t+1])

Long streams are cut into pieces that overlap: each is read with some slots on both sides that are scored with the
next piece. A chain forgets: what a label is depends less and less on those further away. Pieces of about the same
length go side by side, so the Python steps are those of one piece.
"""

import numpy as np

PIECE = 512  # slots of a stream in one piece
CONTEXT = 64  # slots on each side of a piece that are read with it
ROWS = 512  # pieces side by side


def log_marginals(scores: np.ndarray, transitions: np.ndarray, offsets: np.ndarray, piece: int = PIECE,
                  context: int = CONTEXT) -> np.ndarray:
    """The logarithm of the marginal probability of each label in each slot, float32 (N, L).

    scores        (N, L), of the labels of each slot
    transitions   (L, L), of a label (row) before another one (column)
    offsets       stream i is [offsets[i]:offsets[i + 1]]
    """
    result = np.empty(scores.shape, np.float32)
    follow = np.exp(transitions.astype(np.float64) - transitions.max())
    first, last, begin, end = _pieces(offsets, piece, context)
    order = np.argsort(last - first, kind="stable")
    for start in range(0, len(order), ROWS):
        group = order[start:start + ROWS]
        lengths = (last - first)[group]
        steps = np.arange(lengths[-1])
        places = np.minimum(first[group] + steps[:, None], last[group] - 1)  # (T, B)
        sums = _forward_backward(scores[places], follow, lengths)
        own = (places >= begin[group]) & (places < end[group]) & (steps[:, None] < lengths)
        result[places[own]] = np.log(sums[own])
    return result


def _pieces(offsets: np.ndarray, piece: int, context: int) -> tuple[np.ndarray, ...]:
    """Pieces of streams, int64 arrays (K,): they read [first, last) and keep [begin, end)."""
    lengths = np.diff(offsets)
    count = -(-lengths // piece)
    stream = np.repeat(np.arange(len(lengths)), count)
    number = np.arange(len(stream)) - np.repeat(np.cumsum(count) - count, count)
    begin = offsets[stream] + number * piece
    end = np.minimum(begin + piece, offsets[stream + 1])
    return (np.maximum(begin - context, offsets[stream]), np.minimum(end + context, offsets[stream + 1]), begin, end)


def _forward_backward(scores: np.ndarray, follow: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Marginals (T, B, L) of B chains with scores (T, B, L), the factors `follow` (L, L), of some lengths (B,)."""
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
