"""Precision, recall and F1 in percent, from counts: what several metrics share."""

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
