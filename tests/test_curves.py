"""Precision-recall curves and reliability, against scikit-learn and worked examples."""

import numpy as np
import pytest

from punc.results.curves import precision_recall, reliability


def test_precision_recall_average_precision_is_scikit_learns():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(3)
    for size in (5, 400):
        expected = rng.random(size) < 0.3
        expected[0] = True
        posterior = np.round(rng.random(size), 2)  # with ties
        found = precision_recall(posterior, expected, posterior > 0.5)
        assert found.average_precision == pytest.approx(100 * metrics.average_precision_score(expected, posterior))


def test_precision_recall_worked_example():
    found = precision_recall(np.array([0.9, 0.8, 0.7, 0.1]), np.array([True, False, True, False]),
                             np.array([True, True, False, False]))
    # Thresholds give recall 1/2, 1/2, 1, 1 and precision 1, 1/2, 2/3, 1/2.
    assert found.average_precision == pytest.approx(50 * 1 + 50 * 2 / 3)
    assert found.operating == (50, 50)
    assert found.recall.tolist() == [50, 100]
    assert found.precision.tolist() == pytest.approx([100, 200 / 3])


def test_precision_recall_mark_never_expected_or_written():
    nothing, some = np.zeros(2, bool), np.array([True, False])
    assert precision_recall(np.array([0.1, 0.2]), nothing, some) is None
    assert np.isnan(precision_recall(np.array([0.1, 0.2]), some, nothing).operating[1])


def test_reliability_worked_example():
    # Three slots at 0.9, two right: |2/3 - 0.9|; one at 0.6, right: |1 - 0.6|. Bins of 1/15: 0.9 and 0.6 differ.
    posteriors = np.array([[0.9, 0.1], [0.9, 0.1], [0.1, 0.9], [0.4, 0.6]])
    found = reliability(posteriors, np.array([0, 1, 1, 1]))
    assert found.slots.tolist() == [1, 3]
    assert found.confidence.tolist() == pytest.approx([60, 90])
    assert found.accuracy.tolist() == pytest.approx([100, 200 / 3])
    assert found.error == pytest.approx(100 * (0.75 * (0.9 - 2 / 3) + 0.25 * 0.4))
