"""The most probable sequence of labels in which every two neighbours are allowed.

The constraint here is case: a word after a mark that ends a sentence, and the first word of a text, has a capital.
Posteriors of each slot alone can contradict that, as in `end. next`: either the mark is wrong or the case.

    y = argmax Σ_t log p_t(y_t)  over the y with allowed[y_t, y_t+1] for all t      (Viterbi 1967)

Very little has to be searched. If the best label of a slot is allowed next to all labels, the best sequence has it:
any other label there is less probable and allows no more. Such slots cut a text into short stretches. Only stretches
whose best labels contradict each other are searched, those of a text together.
"""

from collections.abc import Sequence

import numpy as np

from punc.data.labels import LabelSet

SEARCH_BATCH = 1024  # stretches that are searched together


def case_rules(labels: LabelSet) -> tuple[np.ndarray, np.ndarray]:
    """Which label (column) may follow which (row), bool (L, L), and which may begin a text, bool (L,).

    If the label set has no capitals, all may.
    """
    last = labels.sentence_ends
    ends = np.array([name in last for name in labels.names])
    capital = np.array([label.capital or not labels.cased for label in labels])
    return ~ends[:, None] | capital, capital


def has_case(tokens: Sequence[str]) -> np.ndarray:
    """Whether a token's first letter has an upper case, bool (V,): that of `1996` has none.

    tokens   a vocabulary, whose first two tokens are special; `<unk>` counts as having case
    """
    return np.array([i == 0 or (i > 1 and token[:1] != token[:1].title()) for i, token in enumerate(tokens)], bool)


def constrained(log_probs: np.ndarray, offsets: np.ndarray, allowed: np.ndarray, begin: np.ndarray,
                free: np.ndarray | None = None) -> np.ndarray:
    """The most probable labels, int64 (N,), of streams in which every two neighbours are allowed.

    log_probs  (N, L) log-posteriors, scaled or not
    offsets    stream i has the slots [offsets[i], offsets[i + 1])
    allowed    bool (L, L): may this label (row) stand before that one (column)?
    begin      bool (L,): may this label begin a stream?
    free       bool (N,): slots that may have any label, whatever is before, as words without case; None: no slot

    Raises ValueError if no label may follow some label, or begin a stream.
    """
    if not allowed.any(1).all() or not begin.any():
        raise ValueError("no label may follow some label, or begin a stream")
    chosen = log_probs.argmax(1)
    if not len(chosen):
        return chosen
    free = np.zeros(len(chosen), bool) if free is None else free
    starts = offsets[:-1][np.diff(offsets) > 0]
    first = np.zeros(len(chosen), bool)
    first[starts] = True
    # Whether the best label may follow the best label before it, or begin the stream.
    agrees = free | np.where(first, begin[chosen], allowed[np.roll(chosen, 1), chosen])
    before_all = np.all(allowed, axis=1)[chosen]
    after_all = free | np.where(first, begin[chosen], np.all(allowed, axis=0)[chosen])
    # A stretch begins at the first slot of a stream, and after a slot whose label is settled.
    cut = first | np.roll(before_all & after_all, 1)
    bounds = np.append(np.flatnonzero(cut), len(chosen))
    wrong = np.flatnonzero(np.add.reduceat(~agrees, bounds[:-1]) > 0)
    wrong = wrong[np.argsort(np.diff(bounds)[wrong], kind="stable")]
    barrier = np.where(allowed, 0.0, -np.inf), np.where(begin, 0.0, -np.inf)
    for group in np.split(wrong, range(SEARCH_BATCH, len(wrong), SEARCH_BATCH)):
        if len(group):
            _search(log_probs, bounds[group], bounds[group + 1], first, free, barrier, chosen)
    return chosen


def _search(log_probs: np.ndarray, begins: np.ndarray, ends: np.ndarray, first: np.ndarray, free: np.ndarray,
            barrier: tuple[np.ndarray, np.ndarray], chosen: np.ndarray) -> None:
    """Write the best allowed labels of stretches [begins, ends) into `chosen`; the stretches are in order of length.

    Before and after a stretch is the end of a stream, or a slot whose settled label allows any neighbour.
    """
    follow, begin = barrier
    lengths = ends - begins
    rows, back = np.arange(len(begins)), np.empty((int(lengths[-1]), len(begins), log_probs.shape[1]), np.int8)
    best = log_probs[begins].astype(np.float64)
    best[first[begins] & ~free[begins]] += begin
    for t in range(1, len(back)):
        longer = np.searchsorted(lengths, t, "right")  # stretches from here on are longer than t
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
