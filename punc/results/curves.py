"""Precision against recall as the threshold of a mark moves, and how far posteriors can be believed."""

from typing import NamedTuple

import numpy as np

POINTS = 120  # of a curve, as it is drawn
BINS = 15  # of the reliability diagram, as in Guo et al. 2017


class PrecisionRecall(NamedTuple):
    """A precision-recall curve, in percent.

    recall, precision    (points,), recall rising
    average_precision    area under the steps of the whole curve: sum of (R_n - R_{n-1}) P_n
    operating            recall and precision of the labels that the system wrote; NaN undefined
    """

    recall: np.ndarray
    precision: np.ndarray
    average_precision: float
    operating: tuple[float, float]


class Reliability(NamedTuple):
    """A reliability diagram, in percent, for the bins that have a slot.

    confidence   mean posterior of the most probable label
    accuracy     how often that label is right
    slots        in each bin
    error        expected calibration error: mean of |accuracy - confidence|, weighted by slots
    """

    confidence: np.ndarray
    accuracy: np.ndarray
    slots: np.ndarray
    error: float


def precision_recall(posterior: np.ndarray, expected: np.ndarray, written: np.ndarray) -> PrecisionRecall | None:
    """The curve of a mark; None if the reference never has it.

    posterior   (slots,): P(mark)
    expected    bool (slots,): the reference has it
    written     bool (slots,): the system wrote it
    """
    total = int(expected.sum())
    if not total:
        return None
    order = np.argsort(-posterior, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(posterior[order])), len(order) - 1)  # equal posteriors: one threshold
    right = np.cumsum(expected[order])[ends]
    recall, precision = 100 * right / total, 100 * right / (ends + 1)
    area = float(np.sum(np.diff(recall, prepend=0.0) * precision) / 100)
    both = int((expected & written).sum())
    at = np.unique(np.searchsorted(recall, np.linspace(recall[0], recall[-1], POINTS)))
    operating = 100 * both / total, 100 * both / written.sum() if written.any() else float("nan")
    return PrecisionRecall(recall[at], precision[at], area, operating)


def reliability(posteriors: np.ndarray, reference: np.ndarray) -> Reliability:
    """The reliability diagram of posteriors (slots, labels) against labels (slots,), with BINS bins of equal width.

    The error is the expected calibration error of Guo et al. 2017, equations 2 and 3.
    """
    confidence = posteriors.max(1).astype(np.float64)
    right = posteriors.argmax(1) == reference
    bins = np.clip(np.ceil(confidence * BINS).astype(np.int64) - 1, 0, BINS - 1)
    slots = np.bincount(bins, minlength=BINS)
    used = slots > 0
    mean = np.bincount(bins, confidence, BINS)[used] / slots[used]
    accuracy = np.bincount(bins, right, BINS)[used] / slots[used]
    error = float(np.sum(slots[used] * np.abs(accuracy - mean)) / max(slots.sum(), 1))
    return Reliability(100 * mean, 100 * accuracy, slots[used], 100 * error)
