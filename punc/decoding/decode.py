"""Computes posteriors and labels of streams, in chunks with context. Imports torch only if a model is not packed."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np

from punc.base.runs import previous_of
from punc.data.labels import LabelSet
from punc.data.transitions import TRANSITIONS, read_transitions
from punc.decoding.options import BATCH_SIZE, CHUNK_SIZE, UNCUT
from punc.decoding.packed import PackedModel, load_packed
from punc.decoding.shipped import is_packed
from punc.tokens.chunks import by_length, cut, gather_arrays, with_turns
from punc.tokens.store_set import StoreSet
from punc.tokens.tokenizer import tokenizer_class

if TYPE_CHECKING:  # `punc.models.base` imports torch
    from punc.models.base import Model

AnyModel = Union["Model", PackedModel]


def load_model(directory: Path, device: str = "cpu", threads: int | None = 1) -> AnyModel:
    """Load a model. Raises InputError for a missing or broken file.

    threads  the number of threads that PyTorch uses from now on; None: no change
    """
    if is_packed(directory):
        return load_packed(directory)
    import torch

    from punc.base.processor import keep_freed_memory
    from punc.models.base import load
    if threads:
        torch.set_num_threads(threads)
        keep_freed_memory()
    model = load(directory).to(device)
    model.transitions = read_transitions(directory / TRANSITIONS, model.labels)
    return model


def log_posteriors(model: AnyModel, data: StoreSet, chunk_size: int = CHUNK_SIZE, context: int | None = None,
                   batch_size: int = BATCH_SIZE) -> np.ndarray:
    """Return the log-posterior of each label after each token, float32 (N, L). For the arguments, see `decode`."""
    found = decode(model, data, viterbi=False, posteriors=True, chunk_size=chunk_size, context=context,
                   batch_size=batch_size)[1]
    assert found is not None
    return found


def decode(model: AnyModel, data: StoreSet, scale: np.ndarray | None = None, *, viterbi: bool = True,
           posteriors: bool = False, chunk_size: int = CHUNK_SIZE, context: int | None = None,
           batch_size: int = BATCH_SIZE) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the label after each token, int64 (N,), and the log-posteriors, float32 (N, L). If `posteriors` is
    false, None replaces the log-posteriors.

    scale       (L,) factors that multiply the posteriors before labels are chosen; None: all 1
    viterbi     if the model is `sequential`, choose the most probable label sequence, not each token's best label
    chunk_size  tokens of a stream decoded at once; 0: the whole stream; ignored by models that are not trained
                by gradient descent
    context     tokens read before each chunk (and after it, if the model is bidirectional); None: the tokenizer's value
    batch_size  chunks decoded together; affects the speed, but not the labels
    """
    if not isinstance(model, PackedModel) and not model.trained_by_gradient:
        found = model.log_posteriors_of(data)
        return choose(found, scale), found if posteriors else None
    sequences = viterbi and model.sequential
    labels = np.empty(len(data.ids), np.int64) if sequences else None
    log_probs = np.empty((len(data.ids), len(model.labels)), np.float32) if posteriors or not sequences else None
    for batch in batches(model, data, chunk_size, context, batch_size):
        best, rows = model.decode_batch(batch.tokens, batch.pauses, scale, sequences, log_probs is not None)
        batch.write(labels, best)
        batch.write(log_probs, rows)
    if labels is None:
        assert log_probs is not None, "a model has sequences or posteriors"
        labels = choose(log_probs, scale)
    return labels, log_probs if posteriors else None


class ChunkBatch(NamedTuple):
    """Chunks that are decoded together. `tokens` and `pauses` (B, T) are as in a `Batch`.

    slots   (slot, begin, end) for each row: the steps row[begin:end] belong to the chunk itself, not to its context;
            `slot` is the index of row[begin] among all N tokens
    """

    tokens: np.ndarray
    pauses: np.ndarray | None
    slots: list[tuple[int, int, int]]

    def write(self, result: np.ndarray | None, values: np.ndarray | None) -> None:
        """Copy the chunks' own steps of `values` (B, T, …) to `result` (N, …). Do nothing if either array is None."""
        if result is None or values is None:
            return
        for row, (slot, begin, end) in enumerate(self.slots):
            result[slot:slot + end - begin] = values[row, begin:end]


def batches(model: AnyModel, data: StoreSet, chunk_size: int, context: int | None,
            batch_size: int) -> Iterator[ChunkBatch]:
    """Yield the chunks of all streams in batches. The chunks of a batch have similar lengths. For the arguments, see
    `decode`."""
    if context is None:
        context = tokenizer_class(model.token_type).context
    if isinstance(model, PackedModel):
        chunk_size = fit_chunk(model.spec.get("longest"), chunk_size, context)
    if model.reads_turns:
        data = with_turns(data)
    chunks = cut(data.offsets, model.lookahead, chunk_size or UNCUT, context)
    for group in by_length(chunks, batch_size):
        tokens, pauses, _ = gather_arrays(data, chunks, group, model.lookahead)
        streams, firsts, _, begins, ends = (column[group] for column in chunks)
        slots = (data.offsets[streams] + begins, begins - firsts, ends - firsts)
        yield ChunkBatch(tokens, pauses, list(zip(*(column.tolist() for column in slots))))


def fit_chunk(longest: Any, chunk_size: int, context: int) -> int:
    """Return `chunk_size`, reduced so that a chunk and its context have at most `longest` tokens (None: no limit)."""
    if not isinstance(longest, int):
        return chunk_size
    most = max(1, longest - 2 * context)
    return min(chunk_size or most, most)


def choose(log_probs: np.ndarray, scale: np.ndarray | None = None) -> np.ndarray:
    """Return each row's most probable label (N,) after scaling. The weaker label wins a tie (Che et al. 2016, 3.4)."""
    return scaled(log_probs, scale).argmax(axis=1)


def scaled(log_probs: np.ndarray, scale: np.ndarray | None) -> np.ndarray:
    """Return the log-posteriors (N, L) after the posteriors are multiplied by `scale` (L,); None: no scaling."""
    return log_probs if scale is None else log_probs + np.log(scale)


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """Convert logits (N, L) to log-posteriors (N, L)."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


class PartLabels:
    """Combines the labels of the parts of a split word (isn't → is n't).

    The first part decides the capital and the opening mark (¿), and the last part decides the closing mark:
    P(capital, mark) = P(capital in the first part's slot) · P(mark in the last part's slot). If a model chooses whole
    label sequences, the labels of the two slots are combined, not their probabilities. If the label set has no
    capitals, this class is not needed, because the word gets the label of the last part's slot.
    """

    def __init__(self, labels: LabelSet):
        begins = [(label.capital, label.opening) for label in labels]
        marks = [label.mark for label in labels]
        # together[first, last]: the label that begins like `first` and ends like `last`, or `last` if there is none
        known = {both: i for i, both in reversed(list(enumerate(zip(begins, marks))))}
        self.together = np.array([[known.get((begin, mark), last) for last, mark in enumerate(marks)]
                                  for begin in begins])
        self._same_begin = np.array([[a == b for a in begins] for b in begins], np.float32)
        self._same_mark = np.array([[a == b for a in marks] for b in marks], np.float32)

    def log_probs(self, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Return log-posteriors (N, L) of split words. `first`, `last`: (N, L) logits or log-posteriors of their
        first and last parts."""
        begin = np.exp(first - first.max(1, keepdims=True)) @ self._same_begin
        mark = np.exp(last - last.max(1, keepdims=True)) @ self._same_mark
        return log_softmax(np.log(begin) + np.log(mark)).astype(np.float32)


def joins_parts(model: AnyModel) -> bool:
    return model.tokenizer.clitics is not None and model.labels.cased


def of_words(model: AnyModel, labels: np.ndarray, log_probs: np.ndarray | None, slots: np.ndarray, firsts: np.ndarray,
             scale: np.ndarray | None, viterbi: bool = True) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the labels (S,) and log-posteriors (S, L) of words, given the output of `decode` for their N tokens.

    slots    (S,) the index of each word's last token
    firsts   (S,) the index of each word's first token, from `first_parts`
    """
    found, rows = labels[slots], None if log_probs is None else log_probs[slots]
    split = np.flatnonzero(firsts != slots)
    if len(split) and joins_parts(model):
        parts = PartLabels(model.labels)
        if rows is not None and log_probs is not None:
            rows[split] = parts.log_probs(log_probs[firsts[split]], rows[split])
        if rows is None or (viterbi and getattr(model, "sequential", False)):
            found[split] = parts.together[labels[firsts[split]], found[split]]
        else:
            found[split] = choose(rows[split], scale)
    return found, rows


def first_parts(slots: np.ndarray, offsets: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """Return the index of each word's first token (S,), for a tokenizer with one token for each part of a word.

    slots     (S,) the index of each word's last token
    offsets   stream i has the tokens [offsets[i]:offsets[i + 1]]
    begins    bool, for each stream: false if it began in an earlier span. Its first word here may then have begun in
              that span, too, so only the last token of this word is used
    """
    firsts = previous_of(slots + 1, 0)
    at = np.searchsorted(slots, offsets[:-1])
    with_words = np.diff(np.append(at, len(slots))) > 0
    at = at[with_words]
    firsts[at] = np.where(begins[with_words], offsets[:-1][with_words], slots[at])
    return firsts


