"""Pairs Spanish question marks, so that a sentence has either both `¿` and `?` or neither.

Labels are chosen one by one, or with weights for pairs of neighbouring labels. Either way, a sentence may get only one
of the two marks. Therefore each complete sentence becomes a statement or a question, whichever is more probable.
"""

from typing import NamedTuple

import numpy as np

from punc.base.runs import previous_of
from punc.data.labels import LabelSet


class Forms(NamedTuple):
    """Tables that map each label to a label of the same case with possibly different marks, int64 (L,)."""

    plain: np.ndarray  # the same closing mark, without an opening mark
    opened: np.ndarray  # the same closing mark, with an opening mark; −1: no label has both
    question: np.ndarray  # closing mark `?`, without an opening mark
    statement: np.ndarray  # a full stop, without an opening mark


def forms_of(labels: LabelSet) -> Forms | None:
    """Return the forms of all labels. Return None unless there is exactly one opening mark, and every label has the
    forms `plain`, `question` and `statement`."""
    ends = [label for label in labels if label.name in labels.sentence_ends]
    asked = next((label.mark for label in ends if label.opening), "")
    stated = next((label.mark for label in ends if label.mark != asked), "")
    if len(labels.openings) != 1 or not asked or not stated:
        return None
    numbers = {(label.capital, label.opening, label.mark): i for i, label in enumerate(labels)}

    def form(opening: str, mark: str = "") -> np.ndarray:
        return np.array([numbers.get((label.capital, opening, mark or label.mark), -1) for label in labels])

    forms = Forms(form(""), form(*labels.openings), form("", asked), form("", stated))
    return None if min(forms.plain.min(), forms.question.min(), forms.statement.min()) < 0 else forms


def paired(log_probs: np.ndarray, chosen: np.ndarray, offsets: np.ndarray, begins: np.ndarray,
           labels: LabelSet) -> np.ndarray:
    """Return the labels `chosen` (N,) with paired question marks.

    log_probs  (N, L) log-posteriors, scaled or not
    offsets    stream i has the slots [offsets[i], offsets[i + 1])
    begins     bool (streams,); false: the stream continues an earlier one, so its first sentence is incomplete

    Sentence boundaries and incomplete sentences do not change. If `forms_of` returns None, nothing changes.
    """
    forms = forms_of(labels)
    if forms is None:
        return chosen
    ends = np.isin(chosen, [i for i, label in enumerate(labels) if label.name in labels.sentence_ends])
    if not ends.any():
        return chosen
    # Sentence i has the slots from starts[i] to lasts[i].
    streams = np.diff(offsets) > 0
    first = offsets[:-1][streams]
    lasts = np.union1d(np.flatnonzero(ends), np.append(first[1:], len(chosen)) - 1)
    starts = previous_of(lasts + 1, 0)
    sentence = np.repeat(np.arange(len(starts)), lasts + 1 - starts)
    # In each sentence, the best place for `¿` is before the word where it gains the most log-probability. The first
    # word wins a tie.
    plain = forms.plain[chosen]
    opened = forms.opened[plain]
    slots = np.arange(len(chosen))
    gains = np.where(opened >= 0, log_probs[slots, opened] - log_probs[slots, plain], -np.inf)
    gain = np.maximum.reduceat(gains, starts)
    best = np.flatnonzero(gains == gain[sentence])
    opening = best[np.searchsorted(best, starts)]
    # A sentence is a question if the gain from `¿` is larger than the loss from `?` instead of a full stop.
    question, statement = forms.question[plain[lasts]], forms.statement[plain[lasts]]
    asks = gain + log_probs[lasts, question] > log_probs[lasts, statement]
    complete = ends[lasts] & ~np.isin(starts, first[~begins[streams]])
    found = np.where(complete[sentence], plain, chosen)
    found[lasts[complete]] = np.where(asks, question, statement)[complete]
    opening = opening[complete & asks]
    found[opening] = forms.opened[found[opening]]
    return found
