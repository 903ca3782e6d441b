"""Paired tests with training noise: closed forms, published quantiles, and how often they reject what is true."""

import math

import numpy as np
import pytest

from punc.scoring.significance import compare
from punc.scoring.training_noise import compare_runs, t_quantile, t_test

SLOTS = 200  # of a unit


def measure(counts):
    """The share of slots that are wrong, of counts (…, 2) of wrong and right slots."""
    return {"Err": 100 * counts[..., 0] / counts.sum(-1)}


def runs_of(rng, shares, noise, seeds):
    """Counts (units, 2) of runs of a system: `shares` (units,) are wrong, and each training moves them by `noise`."""
    found = []
    for _ in range(seeds):
        wrong = rng.binomial(SLOTS, np.clip(shares + rng.normal(0, noise), 0.001, 0.999))
        found.append(np.stack([wrong, SLOTS - wrong], 1))
    return found


def rejected(test, noise, seeds=(3, 3), units=30, trials=300):
    """How often two systems that differ by nothing but their seeds are told apart at 0.05."""
    rng, found = np.random.default_rng(5), 0
    for _ in range(trials):
        shares = rng.uniform(0.05, 0.25, units)  # recordings are not equally hard
        found += test(*(runs_of(rng, shares, noise, number) for number in seeds)) < 0.05
    return found / trials


def p_of_runs(these, others):
    return compare_runs(these, others, measure, 200)["Err"].p


@pytest.mark.parametrize(("noise", "seeds"), [(0.02, (3, 3)), (0.005, (3, 3)), (0.0, (3, 3)), (0.02, (2, 5)),
                                              (0.02, (5, 5))])
def test_compare_runs_rejects_equal_systems_in_5_percent(noise, seeds):
    assert 0.01 < rejected(p_of_runs, noise, seeds) < 0.085  # 0.05 + 2.75 standard errors, or careful


def test_compare_rejects_equal_systems_far_too_often():
    """The test of one training each does not know that another training would have another score."""
    assert rejected(lambda a, b: compare(a[0], b[0], measure, 200)["Err"].p, 0.02, trials=100) > 0.4


def test_compare_runs_finds_a_difference():
    rng = np.random.default_rng(1)
    shares = rng.uniform(0.05, 0.25, 30)
    found = compare_runs(runs_of(rng, shares, 0.003, 3), runs_of(rng, shares + 0.05, 0.003, 3), measure)["Err"]
    assert found.p < 0.01
    assert found.low < -5 < found.high < 0


def test_compare_runs_equal_units_is_welch_t_test():
    """Runs that make the same errors in every unit have no noise of recordings: Welch's t test is left."""
    these, others = ([np.tile([wrong, SLOTS - wrong], (12, 1)) for wrong in side] for side in ([10, 14, 12], [20, 17]))
    found = compare_runs(these, others, measure)["Err"]
    assert (found.this, found.other, found.difference) == pytest.approx((6, 9.25, -3.25))
    one, two = 1 / 3, 1.125 / 2  # variances 1 and 1.125, in percent²
    freedom = (one + two)**2 / (one**2 / 2 + two**2)
    assert found.p == pytest.approx(t_test(3.25 / math.sqrt(one + two), freedom))
    assert found.high == pytest.approx(-3.25 + t_quantile(0.975, freedom) * math.sqrt(one + two))


def test_compare_runs_single_runs_is_the_paired_bootstrap():
    """With one run each only the recordings are noise: the standard error is that of the mean of paired differences."""
    rng = np.random.default_rng(3)
    shares = rng.uniform(0.05, 0.25, 400)
    this, other = (runs_of(rng, shares, 0.01, 1)[0] for _ in range(2))
    found = compare_runs([this], [other], measure, 4000)["Err"]
    error = 100 * np.std(this[:, 0] - other[:, 0]) / SLOTS / 20
    assert found.high - found.difference == pytest.approx(1.97 * error, rel=0.05)
    assert found.difference == pytest.approx(100 * np.mean(this[:, 0] - other[:, 0]) / SLOTS)


def test_compare_runs_swapped_systems():
    rng = np.random.default_rng(4)
    shares = rng.uniform(0.05, 0.25, 20)
    these, others = runs_of(rng, shares, 0.02, 3), runs_of(rng, shares, 0.02, 2)
    found, back = (compare_runs(*pair, measure)["Err"] for pair in ((these, others), (others, these)))
    assert (back.difference, back.p) == pytest.approx((-found.difference, found.p))
    assert (back.low, back.high) == pytest.approx((-found.high, -found.low))


def test_compare_runs_undefined():
    rng = np.random.default_rng(6)
    runs = runs_of(rng, np.full(5, 0.1), 0.01, 4)
    assert math.isnan(compare_runs([run[:1] for run in runs[:2]], [runs[2][:1]], measure)["Err"].p)  # one unit
    found = compare_runs([runs[0], runs[0]], [runs[0]], measure)["Err"]
    assert (found.difference, found.low, found.high, found.p) == (0, 0, 0, 1)
    found = compare_runs(runs[:2], [np.zeros_like(runs[0]), runs[3]], lambda counts: {
        "Err": np.where(counts.sum(-1), counts[..., 0], np.nan)})["Err"]
    assert math.isnan(found.difference)
    assert math.isnan(found.p)


@pytest.mark.parametrize(("freedom", "quantile"), [(1, 12.706), (2, 4.303), (4, 2.776), (10, 2.228), (30, 2.042),
                                                   (1e4, 1.960), (1e9, 1.960)])
def test_t_quantile_of_tables(freedom, quantile):
    assert t_quantile(0.975, freedom) == pytest.approx(quantile, abs=6e-4)
    assert t_test(-quantile, freedom) == pytest.approx(0.05, abs=2e-4)


@pytest.mark.parametrize("t", [0.0, 0.3, 1.0, 5.0, 60.0])
def test_t_test_closed_forms(t):
    """ν = 1 is Cauchy's distribution, ν = 2 has a closed form."""
    assert t_test(t, 1) == pytest.approx(1 - 2 * math.atan(t) / math.pi, abs=1e-6)
    assert t_test(t, 2) == pytest.approx(1 - t / math.sqrt(2 + t * t), abs=1e-6)
