"""Labels that agree with each other: the most probable sequence of which every two neighbours are allowed.

What is constrained here is case: after a mark that ends a sentence, and at a text's beginning, a word has a capital.
Posteriors of each slot alone can disagree with that, as `end. next`: either the mark is wrong or the case.

    y = argmax Σ_t log p_t(y_t)  over the y with allowed[y_t, y_t+1] for all t      (Viterbi 1967)

Next to nothing has to be searched. A slot whose best label is allowed beside all others has that label in the best
sequence: whatever stands there instead is less probable and allows no more. Such slots cut a text in short stretches,
and only a stretch whose best labels disagree is searched; those of a text go side by side.
"""

from collections.abc import Sequence

import numpy as np

from punc.data.labels import LabelSet

ROWS = 1024  # stretches that are searched side by side


def case_rules(labels: LabelSet) -> tuple[np.ndarray, np.ndarray]:
    """Which label may follow which one, bool (L, L), and which may begin a text, bool (L,).

    All may where the label set has no capitals.
    """
    last = labels.sentence_ends
    ends = np.array([name in last for name in labels.names])
    capital = np.array([label.capital or not labels.cased for label in labels])
    return ~ends[:, None] | capital, capital


def has_case(tokens: Sequence[str]) -> np.ndarray:
    """Whether a token's first letter can be written in upper case, bool (V,): that of `1996` cannot.

    Tokens are a vocabulary's, where the first two are special: `<unk>` can.
    """
    return np.array([i == 0 or (i > 1 and token[:1] != token[:1].title()) for i, token in enumerate(tokens)], bool)


def constrained(log_probs: np.ndarray, offsets: np.ndarray, allowed: np.ndarray, begin: np.ndarray,
                free: np.ndarray | None = None) -> np.ndarray:
    """The most probable labels of streams of which all neighbours are allowed, int64 (N,).

    logs     (N, L), logarithms of posteriors, scaled or not
    offsets  stream i is [offsets[i]:offsets[i + 1]]
    allowed  bool (L, L), of a label (row) before another one (column); `begin` (L,), of a stream's first label
    free     bool (N,), slots that may have any label whatever is before, as of words without case; None: none

    Raises ValueError where nothing may follow a label, or begin a stream.
    """
    if not allowed.any(1).all() or not begin.any():
        raise ValueError("a label that nothing may follow")
    chosen = log_probs.argmax(1)
    if not len(chosen):
        return chosen
    free = np.zeros(len(chosen), bool) if free is None else free
    starts = offsets[:-1][np.diff(offsets) > 0]
    first = np.zeros(len(chosen), bool)
    first[starts] = True
    # Whether the best label agrees with the one before it, or with the beginning of the stream.
    agrees = free | np.where(first, begin[chosen], allowed[np.roll(chosen, 1), chosen])
    before_all = allowed.all(1)[chosen]
    after_all = free | np.where(first, begin[chosen], allowed.all(0)[chosen])
    # A stretch begins at a stream's first slot, and behind a slot that is sure of its label.
    cut = first | np.roll(before_all & after_all, 1)
    bounds = np.append(np.flatnonzero(cut), len(chosen))
    wrong = np.flatnonzero(np.add.reduceat(~agrees, bounds[:-1]) > 0)
    wrong = wrong[np.argsort(np.diff(bounds)[wrong], kind="stable")]
    barrier = np.where(allowed, 0.0, -np.inf), np.where(begin, 0.0, -np.inf)
    for group in np.split(wrong, range(ROWS, len(wrong), ROWS)):
        if len(group):
            _search(log_probs, bounds[group], bounds[group + 1], first, free, barrier, chosen)
    return chosen


def _search(log_probs: np.ndarray, begins: np.ndarray, ends: np.ndarray, first: np.ndarray, free: np.ndarray,
            barrier: tuple[np.ndarray, np.ndarray], chosen: np.ndarray) -> None:
    """Write the best allowed labels of stretches [begins, ends) into `chosen`; lengths rise.

    A slot that is sure of its label, or a stream's end, is on either side of a stretch: its neighbour says nothing.
    """
    follow, begin = barrier
    lengths = ends - begins
    rows, back = np.arange(len(begins)), np.empty((int(lengths[-1]), len(begins), log_probs.shape[1]), np.int8)
    best = log_probs[begins].astype(np.float64)
    best[first[begins] & ~free[begins]] += begin
    for t in range(1, len(back)):
        live = np.searchsorted(lengths, t, "right")  # the stretches from there on have this slot
        slots = begins[live:] + t
        step = best[live:, :, None] + np.where(free[slots, None, None], 0.0, follow)
        back[t, live:] = step.argmax(1)
        best[live:] = step.max(1) + log_probs[slots]
    label = best.argmax(1)
    for t in range(len(back) - 1, -1, -1):
        inside = rows[np.searchsorted(lengths, t, "right"):]
        chosen[begins[inside] + t] = label[inside]
        if t:
            label[inside] = back[t, inside, label[inside]]
