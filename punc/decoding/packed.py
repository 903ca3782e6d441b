"""Posteriors and labels of streams by a packed model, as `decode` has them by a PyTorch model. Imports no torch."""

import numpy as np

from punc.decoding.choose import choose
from punc.decoding.options import BATCH_SIZE, CHUNK_SIZE, CONTEXT, UNCUT
from punc.decoding.packed_model import PackedModel
from punc.tokens.chunks import by_length, cut, gather_arrays
from punc.tokens.store_set import StoreSet


def decode(model: PackedModel, data: StoreSet, scale: np.ndarray | None = None, *, viterbi: bool = True,
           posteriors: bool = False, chunk_size: int = CHUNK_SIZE, context: int = CONTEXT,
           batch_size: int = BATCH_SIZE) -> tuple[np.ndarray, np.ndarray | None]:
    """The label of each slot, int64 (N,), and, with `posteriors`, log-posteriors, float32 (N, L); else None.

    The arguments are those of `decode.decode`; `viterbi` means nothing here, because no packed model is sequential.
    """
    logits = np.empty((len(data.ids), len(model.labels)), np.float32)
    chunks = cut(data.offsets, model.lookahead, chunk_size or UNCUT, context)
    count = len(chunks.stream)
    batches = max(1, -(-count // batch_size))  # of equal size: a small one at the end would take as long as a large one
    for group in by_length(chunks, -(-count // batches)):
        tokens, pauses, _ = gather_arrays(data, chunks, group, model.lookahead)
        values = model.logits(tokens, pauses, len(data.ids))
        for row, (stream, first, _, begin, end) in enumerate(zip(*(a[group].tolist() for a in chunks))):
            offset = int(data.offsets[stream])
            logits[offset + begin:offset + end] = values[row, begin - first:end - first]
    log_probs = log_softmax(logits) if posteriors else None
    return choose(logits, scale), log_probs


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """Logits (N, L) → log-posteriors (N, L)."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
