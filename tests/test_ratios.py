"""Precision, recall and F1 from counts, and shares that are undefined."""

import numpy as np
import pytest

from punc.scoring.ratios import class_prf, overall_prf, prf, ratio

COUNTS = np.array([[5, 1, 0], [2, 3, 1], [0, 1, 4]])  # reference × hypothesis; class 0 is the empty one


def test_ratio_of_zero_is_nan():
    np.testing.assert_array_equal(ratio(np.array([1, 0, 0]), np.array([4, 4, 0])), [25, 0, np.nan])


def test_prf_undefined_precision_is_nan():
    found = prf("COMMA", np.array(0), np.array(0), np.array(3))
    assert found == pytest.approx({"COMMA.P": np.nan, "COMMA.R": 0, "COMMA.F1": 0}, nan_ok=True)


def test_class_and_overall_prf_of_a_table():
    assert class_prf("A", COUNTS, 1) == pytest.approx({"A.P": 60, "A.R": 50, "A.F1": 600 / 11})
    assert overall_prf("x", COUNTS) == pytest.approx({"x.P": 70, "x.R": 700 / 11, "x.F1": 1400 / 21})
