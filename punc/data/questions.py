"""Pairs the question marks of Spanish: exactly the sentences that end with `?` have a `¿`.

Labels are chosen slot by slot, so a sentence may have only one of the two marks. It then becomes a statement or a
question, whichever is more probable.
"""

from typing import NamedTuple

import numpy as np

from punc.base.runs import previous_of
from punc.data.labels import LabelSet


class Forms(NamedTuple):
    """For each label, the number of the label with the same case and with the marks of a form, int64 (L,)."""

    plain: np.ndarray  # no opening mark, the label's own closing mark
    opened: np.ndarray  # the opening mark, the label's own closing mark; −1: there is no such label
    question: np.ndarray  # no opening mark, and `?`
    statement: np.ndarray  # no opening mark, and a full stop


def forms_of(labels: LabelSet) -> Forms | None:
    """Returns None unless the labels have exactly one opening mark, and all labels have all forms but `opened`."""
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
    """Returns the labels `chosen` (N,) after pairing question marks.

    log_probs  (N, L) log-posteriors, scaled or not
    offsets    stream i has the slots [offsets[i], offsets[i + 1])
    begins     bool (streams,): false if the stream continues an earlier one, so its first sentence is incomplete

    Incomplete first and last sentences do not change, and neither do the ends of sentences. Nothing changes if the
    labels have no `Forms`.
    """
    forms = forms_of(labels)
    if forms is None:
        return chosen
    ends = np.isin(chosen, [i for i, label in enumerate(labels) if label.name in labels.sentence_ends])
    if not ends.any():
        return chosen
    # Sentences are the slots [starts, lasts].
    streams = np.diff(offsets) > 0
    first = offsets[:-1][streams]
    lasts = np.union1d(np.flatnonzero(ends), np.append(first[1:], len(chosen)) - 1)
    starts = previous_of(lasts + 1, 0)
    sentence = np.repeat(np.arange(len(starts)), lasts + 1 - starts)
    # In each sentence, `¿` would go before the word where it gains most over no opening mark; at a tie, the first.
    plain = forms.plain[chosen]
    opened = forms.opened[plain]
    slots = np.arange(len(chosen))
    gains = np.where(opened >= 0, log_probs[slots, opened] - log_probs[slots, plain], -np.inf)
    gain = np.maximum.reduceat(gains, starts)
    best = np.flatnonzero(gains == gain[sentence])
    opening = best[np.searchsorted(best, starts)]
    # A sentence is a question if that gain outweighs what `?` loses against a full stop.
    question, statement = forms.question[plain[lasts]], forms.statement[plain[lasts]]
    asks = gain + log_probs[lasts, question] > log_probs[lasts, statement]
    complete = ends[lasts] & ~np.isin(starts, first[~begins[streams]])
    found = np.where(complete[sentence], plain, chosen)
    found[lasts[complete]] = np.where(asks, question, statement)[complete]
    opening = opening[complete & asks]
    found[opening] = forms.opened[found[opening]]
    return found
