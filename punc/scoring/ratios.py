"""Precision, recall, F1 and error rates in percent, from counts: what several metrics share."""

from collections.abc import Sequence

import numpy as np

PARTS = ("P", "R", "F1")  # the rows of a column COLUMN are COLUMN.P, COLUMN.R and COLUMN.F1
SUMMARY = "F1"  # the one that systems are compared by


def ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """100 · part / whole, NaN where whole is 0."""
    return np.divide(100 * np.asarray(part, np.float64), whole, out=np.full(np.shape(whole), np.nan), where=whole != 0)


def prf(column: str, right: np.ndarray, predicted: np.ndarray, expected: np.ndarray) -> dict[str, np.ndarray]:
    """P = right / predicted, R = right / expected and their harmonic mean, F1, as rows of `column`."""
    values = ratio(right, predicted), ratio(right, expected), ratio(2 * right, predicted + expected)
    return {f"{column}.{part}": value for part, value in zip(PARTS, values)}


def class_prf(column: str, counts: np.ndarray, i: int) -> dict[str, np.ndarray]:
    """P, R and F1 of class i of counts (…, classes, classes), reference × hypothesis."""
    return prf(column, counts[..., i, i], counts[..., :, i].sum(-1), counts[..., i, :].sum(-1))


def overall_prf(column: str, counts: np.ndarray) -> dict[str, np.ndarray]:
    """P, R and F1 over all classes but the first (micro-averaged), of counts (…, classes, classes)."""
    right = np.trace(counts[..., 1:, 1:], axis1=-2, axis2=-1)
    return prf(column, right, counts[..., :, 1:].sum((-2, -1)), counts[..., 1:, :].sum((-2, -1)))


def two_classes(counts: np.ndarray, members: Sequence[bool]) -> np.ndarray:
    """Counts (…, labels, labels) as (…, 2, 2): whether a slot's label is a member, reference × hypothesis.

    members   (labels,): which labels are members
    """
    of = np.array([[not member, member] for member in members], np.float64)
    return of.T @ counts @ of


def word_error_rate(row: str, outcomes: np.ndarray) -> dict[str, np.ndarray]:
    """(S + D + I) / (C + S + D), of counts (…, OUTCOMES) in the order C, S, D, I; no row if no word was counted."""
    correct, substituted, deleted, inserted = np.moveaxis(outcomes, -1, 0)
    if not outcomes.any():
        return {}
    return {row: ratio(substituted + deleted + inserted, correct + substituted + deleted)}
