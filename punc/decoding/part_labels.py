"""Labels of words that the tokenizer splits, isn't → is n't: the capital and ¿ of the first part, the mark of the last.

A label set without capitals needs none of this: the slot of a split word is that of its last part. Where labels have
capitals, P(capital, mark) = P(capital in the first part's slot) · P(mark in the last part's slot), and so for what a
label writes before the word. A model of sequences has no such product; there the labels of the two slots are put
together.
"""

import numpy as np

from punc.base.runs import previous_of
from punc.data.labels import LabelSet
from punc.decoding.decode import AnyModel, choose, log_softmax


class PartLabels:
    """Puts the labels of first and last parts together, by a label set."""

    def __init__(self, labels: LabelSet):
        begins, marks = [(label.capital, label.opening) for label in labels], [label.mark for label in labels]
        # together[first, last]: the label with the capital of the one and the mark of the other; if there is none, last
        known = {both: i for i, both in reversed(list(enumerate(zip(begins, marks))))}
        self.together = np.array([[known.get((begin, mark), last) for last, mark in enumerate(marks)]
                                  for begin in begins])
        self._same_begin = np.array([[a == b for a in begins] for b in begins], np.float32)
        self._same_mark = np.array([[a == b for a in marks] for b in marks], np.float32)

    def log_probs(self, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """The log-posteriors (N, L) of words, given those in the slots of their first and last parts, or logits."""
        begin = np.exp(first - first.max(1, keepdims=True)) @ self._same_begin
        mark = np.exp(last - last.max(1, keepdims=True)) @ self._same_mark
        return log_softmax(np.log(begin) + np.log(mark)).astype(np.float32)


def joins_parts(model: AnyModel) -> bool:
    """Whether a model's tokenizer splits words, and its labels have capitals."""
    return model.tokenizer.clitics is not None and model.labels.cased


def of_words(model: AnyModel, labels: np.ndarray, log_probs: np.ndarray | None, slots: np.ndarray, firsts: np.ndarray,
             scale: np.ndarray | None, viterbi: bool = True) -> tuple[np.ndarray, np.ndarray | None]:
    """The labels (S,) and log-posteriors (S, L) of words, given those of N tokens.

    slots    (S,) the last token of each word
    firsts   (S,) its first token, from `first_parts`
    scale    (L,) factors of the posteriors before labels are chosen; None: all 1
    viterbi  whether the labels of a sequential model are the best sequence
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
    """The first token of each word (S,), of a tokenizer that makes one token of each part.

    slots     (S,) the last token of each word
    offsets   stream i has the tokens [offsets[i]:offsets[i + 1]]
    begins    bool, for each stream: false if it begins in the middle; the first word there is its last part alone
    """
    firsts = previous_of(slots + 1, 0)
    at = np.searchsorted(slots, offsets[:-1])
    with_words = np.diff(np.append(at, len(slots))) > 0
    at = at[with_words]
    firsts[at] = np.where(begins[with_words], offsets[:-1][with_words], slots[at])
    return firsts


class LivePartLabels:
    """Logits of a model's tokens that come one by one → those of words."""

    def __init__(self, model: AnyModel):
        self._parts = PartLabels(model.labels) if joins_parts(model) else None
        self._first: np.ndarray | None = None

    def push(self, logits: np.ndarray, ends_word: bool) -> np.ndarray:
        """The logits (L,) of the next token → those of the word, if it ends with the token."""
        if not self._parts:
            return logits
        first, self._first = self._first, None
        if not ends_word:
            self._first = logits if first is None else first
        elif first is not None:
            return self._parts.log_probs(first[None], logits[None])[0]
        return logits
