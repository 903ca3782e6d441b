"""Finds the most probable label sequence, given weights for pairs of neighbouring labels.

The best labels of single slots can contradict each other, as in `end. next` or `Hello, How are you`, where either the
mark or the case is wrong. The weights are learned from text, or come from a rule: the first word of each sentence must
have a capital.

Most slots are *settled*: their best label leads the others by so much that the weights cannot change the choice, so it
is kept. Only the stretches between settled slots are searched, many stretches at a time.
"""

import math
import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError, StrPath
from punc.base.files import atomic_file, read_lines
from punc.data.labels import LabelSet

SEARCH_BATCH = 1024  # the number of stretches that are searched together
TRANSITIONS = "transitions.txt"  # an optional file in a model directory: the weights of label transitions
BEGIN = "<s>"  # stands for the start of a text in a file of weights


class Transitions(NamedTuple):
    """Weights to add to the log-posteriors (L,) of a slot. −∞ forbids a label."""

    follow: np.ndarray  # float64 (L, L); the column is the slot's label, the row is the previous label
    begin: np.ndarray  # float64 (L,); for the first label of a text


def case_rules(labels: LabelSet) -> Transitions:
    """Return weights that forbid a lower-case word at the start of a sentence, or zeros if no label has a capital."""
    ends = np.array([name in labels.sentence_ends for name in labels.names])
    barred = np.where([label.capital or not labels.cased for label in labels], 0.0, -np.inf)
    return Transitions(np.where(ends[:, None], barred, 0.0), barred)


def learned(counts: np.ndarray, weight: float) -> Transitions:
    """Return the weights log(P(label | previous label) / P(label)), multiplied by `weight`.

    counts   (L + 1, L) how often the label of a column followed the label of a row or, in the last row, began a text
    """
    counts = counts + 1.0  # add-one smoothing, so that no pair is impossible
    after = counts / counts.sum(1, keepdims=True)
    alone = counts.sum(0) / counts.sum()
    weights = weight * np.log(after / alone)
    return Transitions(weights[:-1], weights[-1])


def write_transitions(path: StrPath, transitions: Transitions, labels: LabelSet) -> None:
    """Write a file of weights with lines `LABEL NEXT-LABEL WEIGHT`."""
    with atomic_file(path) as file:
        for before, row in zip((BEGIN, *labels.names), (transitions.begin, *transitions.follow)):
            file.writelines(f"{before} {after} {weight:.3f}\n" for after, weight in zip(labels.names, row.tolist()))


def read_transitions(path: StrPath, labels: LabelSet) -> Transitions | None:
    """Read a file of weights, or return None if it is missing. Raises InputError if a line is invalid or
    a pair of labels has no weight."""
    if not os.path.isfile(path):
        return None
    found: dict[tuple[str, ...], float] = {}
    for number, line in read_lines(path):
        *pair, weight = line.split(" ")
        try:
            found[tuple(pair)] = float(weight)
        except ValueError:
            found[tuple(pair)] = math.nan
        if not abs(found[tuple(pair)]) < 100:
            raise InputError("the line is not two labels and a weight",
                             "write, for example, COMMA CAP -0.25", path, number)
    names = labels.names
    pairs = [(before, after) for before in (BEGIN, *names) for after in names]
    if set(pairs) != set(found):
        raise InputError("the pairs of labels do not have one weight each",
                         "make it again: utils/learn_transitions.py", path)
    weights = np.array([found[pair] for pair in pairs]).reshape(len(names) + 1, len(names))
    return Transitions(weights[1:], weights[0])


def has_case(tokens: Sequence[str]) -> np.ndarray:
    """Mark the tokens of a vocabulary that can begin with a capital, bool (V,): for example <unk>, but not `1996`."""
    return np.array([i == 0 or (i > 1 and token[:1] != token[:1].title()) for i, token in enumerate(tokens)], bool)


def best_sequences(log_probs: np.ndarray, offsets: np.ndarray, transitions: Transitions,
                   free: np.ndarray | None = None) -> np.ndarray:
    """Return the most probable label sequence of each stream, concatenated, int64 (N,).

    log_probs  (N, L) log-posteriors, scaled or not
    offsets    stream i has the slots [offsets[i], offsets[i + 1])
    free       bool (N,), true where the weights do not apply, for example because a word has no case; None: they apply
               everywhere

    Raises ValueError if there is a label that no label may follow, or if no label may begin a stream.
    """
    follow, begin = transitions
    if np.isneginf(follow).all(1).any() or np.isneginf(begin).all():
        raise ValueError("no label may follow some label, or begin a stream")
    chosen = log_probs.argmax(1)
    if not len(chosen):
        return chosen
    free = np.zeros(len(chosen), bool) if free is None else free
    first = np.zeros(len(chosen), bool)
    first[offsets[:-1][np.diff(offsets) > 0]] = True
    before = np.vstack([follow, begin, np.zeros(len(begin))])
    gains = _most_gained(before) + _most_gained(follow.T)
    best = np.take_along_axis(log_probs, chosen[:, None], 1)
    # Settled slots keep their label, whatever the neighbouring labels are.
    settled = (best - log_probs >= gains[chosen]).all(1)
    # A stretch begins at the first slot of a stream, and after each settled slot.
    bounds = np.append(np.flatnonzero(first | np.roll(settled, 1)), len(chosen))
    searched = np.flatnonzero(~settled[bounds[:-1]])  # a stretch that begins with a settled slot has no other slot
    searched = searched[np.argsort(np.diff(bounds)[searched], kind="stable")]
    for group in np.split(searched, range(SEARCH_BATCH, len(searched), SEARCH_BATCH)):
        if len(group):
            _search(log_probs, bounds[group], bounds[group + 1], first, free, transitions, chosen)
    return chosen


def _most_gained(weights: np.ndarray) -> np.ndarray:
    """Return an array (L, L). Its element [b, l] is the largest amount, over all neighbours, by which `weights`
    (neighbours, L) favour label l over label b, but at least 0."""
    with np.errstate(invalid="ignore"):  # −∞ − (−∞) is NaN, which nanmax ignores
        return np.nanmax(weights[:, None, :] - weights[:, :, None], axis=0, initial=0.0)


def _search(log_probs: np.ndarray, begins: np.ndarray, ends: np.ndarray, first: np.ndarray, free: np.ndarray,
            transitions: Transitions, chosen: np.ndarray) -> None:
    """Write the best labels of the stretches [begins, ends) into `chosen`. The stretches are sorted by length."""
    follow, begin = transitions
    lengths = ends - begins
    rows = np.arange(len(begins))
    back = np.empty((int(lengths[-1]), len(begins), log_probs.shape[1]), np.int8)
    starts = np.where(first[begins, None], begin, follow[chosen[begins - 1]])
    best = log_probs[begins] + np.where(free[begins, None], 0.0, starts)
    for t in range(1, len(back)):
        longer = np.searchsorted(lengths, t, "right")  # the index of the first stretch that is longer than t
        slots = begins[longer:] + t
        step = best[longer:, :, None] + np.where(free[slots, None, None], 0.0, follow)
        back[t, longer:] = step.argmax(1)
        best[longer:] = step.max(1) + log_probs[slots]
    label = best.argmax(1)
    for t in range(len(back) - 1, -1, -1):
        inside = rows[np.searchsorted(lengths, t, "right"):]
        chosen[begins[inside] + t] = label[inside]
        if t:
            label[inside] = back[t, inside, label[inside]]
