"""Computes the posteriors of hidden events between words with the forward-backward algorithm.

Stolcke et al. 1998, "Automatic Detection of Sentence Boundaries and Disfluencies based on Recognized Words": an n-gram
model generates words and events as one sequence. The posterior of an event is proportional to the sum of the
probabilities of all sequences that contain it. The state at slot t consists of the last n − 1 tokens up to word t,
where n is the order of the model. Since the words are given, only the labels of the slots among these tokens (the label
history) distinguish states. The empty label has no token.

The forward and the backward recursion are products of matrices, one matrix per slot. The N slots are divided into √N
blocks of √N slots, and each step of a recursion is computed for all blocks at once.
"""

from collections.abc import Callable, Iterator

import numpy as np

from punc.base.runs import next_of

CHUNK_SIZE = 1 << 15  # the number of slots computed at a time
CONTEXT = 256  # slots read on each side of a chunk; the effect of the initial state fades within a few sentences
LabelHistory = tuple[int, ...]  # labels of the slots before a word, nearest slot first
LogProbs = Callable[[np.ndarray, np.ndarray], np.ndarray]


def label_histories(tokens: int, labels: int) -> Iterator[LabelHistory]:
    """Yield all label histories that the last `tokens` tokens up to a word can contain. In the first history, all
    labels are empty."""
    if tokens <= 1:
        yield ()
        return
    for label in range(labels):
        for rest in label_histories(tokens - (2 if label else 1), labels):
            yield label, *rest


def visible(labels: LabelHistory, tokens: int) -> LabelHistory:
    """Shorten a label history to the labels that can be seen in the last `tokens` tokens up to the word."""
    left, result = tokens - 1, []
    for label in labels:
        if left <= 0:
            break
        result.append(label)
        left -= 2 if label else 1
    return tuple(result)


def token_history(labels: LabelHistory, tokens: int, words: np.ndarray, slots: np.ndarray,
                  first_event: int) -> np.ndarray:
    """Return the last `tokens` tokens before each of the `slots`, (slots, tokens). `labels` are the labels of the
    preceding slots. Slot t follows words[t + tokens]."""
    columns = [words[slots + tokens]]
    for back, label in enumerate(labels, 1):
        if label:
            columns.append(np.full(len(slots), first_event + label))
        columns.append(words[slots + tokens - back])
    return np.stack(columns[:tokens][::-1], axis=1)


def log_posteriors(words: np.ndarray, offsets: np.ndarray, labels: int, order: int, log_probs: LogProbs,
                   first_event: int, begin: int, end: int) -> np.ndarray:
    """Return the log-posterior of each label in each slot of words (N,), float32 (N, labels).

    offsets       stream i consists of words[offsets[i]:offsets[i + 1]]
    order         order of the n-gram model
    log_probs     maps histories (M, order − 1) int64 and tokens (M, K) to log P(token | history), (M, K); short
                  histories begin with −1
    first_event   label i is the token first_event + i; label 0 has no token
    begin, end    the tokens before and after a stream
    """
    result = np.empty((len(words), labels), np.float32)
    for start in range(0, len(words), CHUNK_SIZE):
        stop = min(start + CHUNK_SIZE, len(words))
        left, right = max(start - CONTEXT, 0), min(stop + CONTEXT, len(words))
        inside = offsets[(offsets > left) & (offsets < right)]
        # A stream that is cut at `left` or `right` gets a begin or end token there, far from the slots of the result.
        cuts = np.concatenate([[left], inside, [right]]).astype(np.int64) - left
        edges, follows = _edges(words[left:right], cuts, labels, order, log_probs, first_event, begin, end)
        result[start:stop] = _forward_backward(edges, follows, cuts)[start - left:stop - left]
    return result


def _edges(words: np.ndarray, offsets: np.ndarray, labels: int, order: int, log_probs: LogProbs, first_event: int,
           begin: int, end: int) -> tuple[np.ndarray, list[list[int]]]:
    """Return log P(label, next word) for each slot, state and label, (N, S, L), and the state that follows each state
    and label, (S, L)."""
    seen, n = max(order - 1, 1), len(words)
    states = list(label_histories(seen, labels))
    index = {state: i for i, state in enumerate(states)}
    follows = [[index[visible((label, *state), seen)] for label in range(labels)] for state in states]
    # One array holds all streams, each after a begin token. −1, before each begin token, means that there is no token.
    padded = np.full(n + len(offsets) * (seen + 1), -1, np.int64)
    lengths = np.diff(offsets)
    stream = np.repeat(np.arange(len(lengths)), lengths)
    slots = np.arange(n) + (stream + 1) * (seen + 1) - seen  # the word before slot i is padded[slots[i] + seen]
    padded[slots + seen] = words
    padded[slots[offsets[:-1]] + seen - 1] = begin
    following = next_of(words, end).astype(np.int64)
    following[offsets[1:] - 1] = end
    edges = np.empty((n, len(states), labels))
    events = np.tile(first_event + np.arange(labels), (n, 1))  # label 0 has no token: its column is the next word
    events[:, 0] = following
    after: dict[tuple[LabelHistory, int], np.ndarray] = {}  # log P(next word) for a shortened label history and a label
    for i, state in enumerate(states):
        before = token_history(state, seen, padded, slots, first_event)
        edges[:, i] = log_probs(before, events)
        short = visible(state, seen - 1)
        for label in range(1, labels):
            if (short, label) not in after:
                pushed = np.column_stack([before[:, 1:], events[:, label]])
                after[short, label] = log_probs(pushed, following[:, None])[:, 0]
            edges[:, i, label] += after[short, label]
    return edges, follows


def _forward_backward(edges: np.ndarray, follows: list[list[int]], offsets: np.ndarray) -> np.ndarray:
    """Return the log-posteriors (N, L) of labels, given the results of `_edges`. Each stream starts in state 0."""
    n, states, labels = edges.shape
    edges = np.exp(edges - edges.max(axis=(1, 2), keepdims=True))
    size = int(np.ceil(np.sqrt(n)))  # the number of blocks, and the number of slots in a block
    matrices = np.zeros((size * size, states, states))
    matrices[n:] = np.eye(states)
    for state, targets in enumerate(follows):
        for label, target in enumerate(targets):
            matrices[:n, state, target] += edges[:, state, label]
    last = offsets[1:] - 1
    matrices[last, :, 0] = edges[last].sum(axis=2)  # the next stream does not depend on the labels of this stream
    matrices[last, :, 1:] = 0
    blocks = matrices.reshape(size, size, states, states)
    begin = np.zeros((1, states))
    begin[0, 0] = 1
    forward = _scan(blocks, begin).reshape(-1, states)[:n]
    transposed = blocks[::-1, ::-1].swapaxes(2, 3)
    backward = _scan(transposed, np.ones((1, states)))[::-1, ::-1].reshape(-1, states)[:n]
    at_last = np.zeros(n, bool)
    at_last[last] = True
    sums = np.zeros((n, labels))
    for state, targets in enumerate(follows):
        for label, target in enumerate(targets):
            ahead = np.where(at_last, backward[:, 0], backward[:, target])
            sums[:, label] += forward[:, state] * edges[:, state, label] * ahead
    sums = np.maximum(sums, np.finfo(np.float32).tiny * sums.max(axis=1, keepdims=True))
    return np.log(sums / sums.sum(axis=1, keepdims=True))


def _scan(matrices: np.ndarray, begin: np.ndarray) -> np.ndarray:
    """Return the row vectors begin, begin·M₀, begin·M₀·M₁, …, each up to a factor, (blocks, size, S)."""
    blocks, size, states = matrices.shape[:3]
    product = np.broadcast_to(np.eye(states), (blocks, states, states))
    for step in range(size):
        product = product @ matrices[:, step]
        product = product / product.max(axis=(1, 2), keepdims=True)
    starts = [begin]
    for block in product[:-1]:
        vector = starts[-1] @ block
        starts.append(vector / vector.max())
    result = np.empty((blocks, size, states))
    vector = np.stack(starts)  # (blocks, 1, S)
    for step in range(size):
        result[:, step] = vector[:, 0]
        vector = vector @ matrices[:, step]
        vector = vector / vector.max(axis=2, keepdims=True)
    return result
