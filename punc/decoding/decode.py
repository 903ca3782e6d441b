"""Posteriors and labels of streams; a long stream is decoded in overlapping chunks. Importing it does not import
torch."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Union

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

if TYPE_CHECKING:  # it imports torch
    from punc.models.base import Model

AnyModel = Union["Model", PackedModel]


def load_model(directory: Path, device: str = "cpu", threads: int | None = 1) -> AnyModel:
    """The model of a directory; PyTorch uses this many threads (None: no change). Raises InputError if it is broken."""
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
    """The log-posterior of each label in each slot, float32 (N, L); arguments as those of `decode`."""
    found = decode(model, data, viterbi=False, posteriors=True, chunk_size=chunk_size, context=context,
                   batch_size=batch_size)[1]
    assert found is not None
    return found


def decode(model: AnyModel, data: StoreSet, scale: np.ndarray | None = None, *, viterbi: bool = True,
           posteriors: bool = False, chunk_size: int = CHUNK_SIZE, context: int | None = None,
           batch_size: int = BATCH_SIZE) -> tuple[np.ndarray, np.ndarray | None]:
    """The label of each slot, int64 (N,), and, with `posteriors`, log-posteriors, float32 (N, L); else None.

    scale       (L,) factors of the posteriors before labels are chosen; None: all 1
    viterbi     take the most probable sequence of labels if the model is `sequential`; else each slot's best label
    chunk_size  tokens of a stream decoded in one go; 0: the whole stream, as for all models not trained by gradient
    context     tokens read before each chunk (and after it, by a model that reads both ways); None: the tokenizer's
    batch_size  chunks decoded together; changes the speed, not the labels
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
    """Some chunks, decoded together: `tokens` and `pauses` (B, T) as in a `Batch`.

    slots   for each row: the index of its first scored slot in (N,); where its scored slots begin and end in the row
    """

    tokens: np.ndarray
    pauses: np.ndarray | None
    slots: list[tuple[int, int, int]]

    def write(self, result: np.ndarray | None, values: np.ndarray | None) -> None:
        """Copy the values (B, T, …) of the slots to their places in `result` (N, …), if both are given."""
        if result is None or values is None:
            return
        for row, (slot, begin, end) in enumerate(self.slots):
            result[slot:slot + end - begin] = values[row, begin:end]


def batches(model: AnyModel, data: StoreSet, chunk_size: int, context: int | None,
            batch_size: int) -> Iterator[ChunkBatch]:
    """All chunks, in batches of about equal size; arguments as those of `decode`."""
    if context is None:
        context = tokenizer_class(model.token_type).context
    if model.reads_turns:
        data = with_turns(data)
    chunks = cut(data.offsets, model.lookahead, chunk_size or UNCUT, context)
    for group in by_length(chunks, batch_size):
        tokens, pauses, _ = gather_arrays(data, chunks, group, model.lookahead)
        streams, firsts, _, begins, ends = (column[group] for column in chunks)
        slots = (data.offsets[streams] + begins, begins - firsts, ends - firsts)
        yield ChunkBatch(tokens, pauses, list(zip(*(column.tolist() for column in slots))))


def choose(log_probs: np.ndarray, scale: np.ndarray | None = None) -> np.ndarray:
    """The most probable label of each slot, (N,), after `scaled`; ties go to the weaker one (Che et al. 2016, 3.4)."""
    return scaled(log_probs, scale).argmax(axis=1)


def scaled(log_probs: np.ndarray, scale: np.ndarray | None) -> np.ndarray:
    """Log-posteriors (N, L) after multiplying the posteriors by factors (L,); None: all 1."""
    return log_probs if scale is None else log_probs + np.log(scale)


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """Logits (N, L) → log-posteriors (N, L)."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


class PartLabels:
    """Combines the labels of the parts of split words, isn't → is n't: the capital and ¿ of the first part, the mark
    of the last.

    P(capital, mark) = P(capital in the first part's slot) · P(mark in the last part's slot), and likewise for what a
    label writes before the word. A model of sequences has no such product, so the labels of the two slots are
    combined. A label set without capitals needs none of this: the slot of a split word is the slot of its last part.
    """

    def __init__(self, labels: LabelSet):
        begins = [(label.capital, label.opening) for label in labels]
        marks = [label.mark for label in labels]
        # together[first, last]: the label with the capital of `first` and the mark of `last`; if there is none, `last`
        known = {both: i for i, both in reversed(list(enumerate(zip(begins, marks))))}
        self.together = np.array([[known.get((begin, mark), last) for last, mark in enumerate(marks)]
                                  for begin in begins])
        self._same_begin = np.array([[a == b for a in begins] for b in begins], np.float32)
        self._same_mark = np.array([[a == b for a in marks] for b in marks], np.float32)

    def log_probs(self, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """The log-posteriors (N, L) of words, given those, or logits, in the slots of their first and last parts."""
        begin = np.exp(first - first.max(1, keepdims=True)) @ self._same_begin
        mark = np.exp(last - last.max(1, keepdims=True)) @ self._same_mark
        return log_softmax(np.log(begin) + np.log(mark)).astype(np.float32)


def joins_parts(model: AnyModel) -> bool:
    return model.tokenizer.clitics is not None and model.labels.cased


def of_words(model: AnyModel, labels: np.ndarray, log_probs: np.ndarray | None, slots: np.ndarray, firsts: np.ndarray,
             scale: np.ndarray | None, viterbi: bool = True) -> tuple[np.ndarray, np.ndarray | None]:
    """The labels (S,) and log-posteriors (S, L) of words, given those of N tokens from `decode`.

    slots    (S,) the last token of each word
    firsts   (S,) its first token, from `first_parts`
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
    """The first token of each word (S,), for a tokenizer that makes one token of each part.

    slots     (S,) the last token of each word
    offsets   stream i has the tokens [offsets[i]:offsets[i + 1]]
    begins    bool, for each stream: false if it continues an earlier span; then its first word is only its last part
    """
    firsts = previous_of(slots + 1, 0)
    at = np.searchsorted(slots, offsets[:-1])
    with_words = np.diff(np.append(at, len(slots))) > 0
    at = at[with_words]
    firsts[at] = np.where(begins[with_words], offsets[:-1][with_words], slots[at])
    return firsts


