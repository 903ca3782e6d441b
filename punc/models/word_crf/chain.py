"""Posteriors of the labels of long streams by a linear chain (layers.crf).

Streams are cut into chunks. A chunk is read together with some slots on both sides, which count in the next chunk.
The influence of one label on another fades with their distance. Chunks of similar length are computed side by side, so
that Python loops over the slots of one chunk only.
"""

import numpy as np
import torch

from punc.base.runs import ranges
from punc.layers.crf import LinearChain

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
    chain = LinearChain(scores.shape[1])
    chain.transitions.data = torch.from_numpy(transitions)
    first, last, begin, end = _chunks(offsets, chunk_size, context)
    order = np.argsort(last - first, kind="stable")
    for start in range(0, len(order), BATCH_SIZE):
        group = order[start:start + BATCH_SIZE]
        lengths = (last - first)[group]
        steps = np.arange(lengths[-1])
        slots = np.minimum(first[group, None] + steps, last[group, None] - 1)  # (B, T)
        log_probs = chain.log_marginals(torch.from_numpy(scores[slots]), torch.from_numpy(lengths)).numpy()
        own = (slots >= begin[group, None]) & (slots < end[group, None]) & (steps < lengths[:, None])
        result[slots[own]] = log_probs[own]
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
