"""Intervals and paired tests against closed forms, enumeration, and how often they reject what is true."""

import itertools
import math
import zlib
from functools import partial

import numpy as np
import pytest
from scipy import stats

from punc.base.errors import InputError
from punc.data.labels import Label, LabelSet
from punc.scoring.counts import Counts
from punc.scoring.metrics import compute_metrics
from punc.scoring.significance import bootstrap_sums, check_pair, compare, compare_runs, intervals

LABELS = LabelSet((Label("O", "w"), Label("COMMA", "w,"), Label("PERIOD", "w.")))
MEASURE = partial(compute_metrics, labels=LABELS)


def system(units, right, seed=1, slots=40):
    """Counts of a system that has a share `right` of its slots right, for any reference label."""
    rng = np.random.default_rng(seed)
    reference = np.random.default_rng(99).choice(3, (units, slots), p=(0.8, 0.1, 0.1))
    hypothesis = np.where(rng.random((units, slots)) < right, reference, rng.integers(0, 3, (units, slots)))
    counts = np.zeros((units, 3, 3), int)
    np.add.at(counts, (np.arange(units)[:, None], reference, hypothesis), 1)
    return counts


def test_intervals_two_units_by_enumeration():
    """Resampling 2 units gives (a, a), (a, b), (b, a), (b, b), equally likely: 95 % is from Err of a to Err of b."""
    counts = np.array([np.diag([6, 2, 2]), [[4, 2, 0], [0, 2, 0], [0, 0, 2]]])
    found = intervals(counts, MEASURE)["Err"]
    assert found == pytest.approx((10, 0, 20))


def test_intervals_one_unit_has_no_bounds():
    counts = system(1, 0.8)
    found = intervals(counts, MEASURE)["Err"]
    assert found.value == pytest.approx(float(MEASURE(counts[0])["Err"]))
    assert np.isnan(found.low)
    assert np.isnan(found.high)


def test_intervals_same_seed_same_values():
    """For many units fewer replicates are drawn at a time: the same values come in one, two or more parts."""
    counts = system(30, 0.8)
    one, other = intervals(counts, MEASURE, 100, seed=5), intervals(counts, MEASURE, 100, seed=6)
    assert one == intervals(counts, MEASURE, 100, seed=5)
    assert one != other
    many = np.concatenate([counts, np.zeros((70_000, 3, 3), int)])  # 59 replicates at a time
    sums = bootstrap_sums(many, 100, 1)
    drawn = np.random.default_rng([1, zlib.crc32(b"bootstrap")]).integers(0, len(many), (100, len(many)))
    np.testing.assert_array_equal(sums[-1], many[drawn[-1]].sum(0))


def test_default_seed_and_replicates_are_those_of_published_tables():
    this, other = system(30, 0.8), system(30, 0.75, 2)
    published = (14.916667, 12.664583, 17.416667), (14.916667, 16.166667, -1.25, -3.833333, 1.75, 0.437281)
    assert intervals(this, MEASURE)["Err"] == pytest.approx(published[0])
    assert compare(this, other, MEASURE)["Err"] == pytest.approx(published[1])


def test_compare_system_with_itself():
    counts = system(40, 0.8)
    for name, found in compare(counts, counts, MEASURE, 200).items():
        assert (found.difference, found.low, found.high, found.p) == (0, 0, 0, 1), name


def test_compare_clear_winner():
    found = compare(system(60, 0.9, 1), system(60, 0.7, 2), MEASURE)
    for name in ("overall.F1", "Err", "SER"):
        assert found[name].p < 0.01
        assert found[name].low * found[name].high > 0
    assert found["overall.F1"].difference == found["overall.F1"].this - found["overall.F1"].other > 0
    assert found["Err"].difference < 0
    back = compare(system(60, 0.7, 2), system(60, 0.9, 1), MEASURE)
    assert back["Err"].difference == -found["Err"].difference


def test_compare_p_by_enumeration():
    """6 units have 64 exchanges; p approaches the share that reaches the difference."""
    this, other = system(6, 0.9, 1), system(6, 0.75, 2)
    error = [100 * (1 - np.trace(s, axis1=1, axis2=2) / 40) for s in (this, other)]
    seen = abs(error[0].mean() - error[1].mean())
    reached = []
    for swap in itertools.product((0, 1), repeat=6):
        sign = 1 - 2 * np.array(swap)
        reached.append(abs((sign * (error[0] - error[1])).mean()) >= seen - 1e-9)
    assert compare(this, other, MEASURE, 20000)["Err"].p == pytest.approx(np.mean(reached), abs=0.01)


def test_check_pair_different_slots_raises():
    units = [f"u{i}" for i in range(4)]
    one = Counts(units, system(4, 0.8, 1))
    check_pair(one, Counts(units, system(4, 0.5, 2)), "x")
    with pytest.raises(InputError, match=r"exp/b: other units .* from u1"):
        check_pair(one, Counts(["u0", "v", "u2", "u3"], one.confusion), "exp/b")
    with pytest.raises(InputError, match=r"other units .* from the last one on"):
        check_pair(one, Counts(units[:3], one.confusion[:3]), "exp/b")
    with pytest.raises(InputError, match="other reference labels"):
        check_pair(one, Counts(units, one.confusion.swapaxes(1, 2)), "exp/b")
    with pytest.raises(InputError, match="other reference labels"):
        check_pair(one, Counts(units, np.zeros((4, 4, 4), int)), "exp/b")


SLOTS = 200  # of a unit


def wrong_share(counts):
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
    return compare_runs(these, others, wrong_share, 200)["Err"].p


@pytest.mark.parametrize(("noise", "seeds"), [(0.02, (3, 3)), (0.005, (3, 3)), (0.0, (3, 3)), (0.02, (2, 5)),
                                              (0.02, (5, 5))])
def test_compare_runs_rejects_equal_systems_in_5_percent(noise, seeds):
    assert 0.01 < rejected(p_of_runs, noise, seeds) < 0.085  # 0.05 + 2.75 standard errors, or careful


def test_compare_runs_finds_a_difference():
    rng = np.random.default_rng(1)
    shares = rng.uniform(0.05, 0.25, 30)
    found = compare_runs(runs_of(rng, shares, 0.003, 3), runs_of(rng, shares + 0.05, 0.003, 3), wrong_share)["Err"]
    assert found.p < 0.01
    assert found.low < -5 < found.high < 0


def test_compare_runs_equal_units_is_welch_t_test():
    """Runs that make the same errors in every unit have no noise of recordings: Welch's t test is left."""
    these, others = ([np.tile([wrong, SLOTS - wrong], (12, 1)) for wrong in side] for side in ([10, 14, 12], [20, 17]))
    found = compare_runs(these, others, wrong_share)["Err"]
    assert (found.this, found.other, found.difference) == pytest.approx((6, 9.25, -3.25))
    welch = stats.ttest_ind([5, 7, 6], [10, 8.5], equal_var=False)
    assert found.p == pytest.approx(welch.pvalue)
    assert (found.low, found.high) == pytest.approx(tuple(welch.confidence_interval()))


def test_compare_runs_single_runs_is_the_paired_bootstrap():
    """With one run each only the recordings are noise: the standard error is that of the mean of paired differences."""
    rng = np.random.default_rng(3)
    shares = rng.uniform(0.05, 0.25, 400)
    this, other = (runs_of(rng, shares, 0.01, 1)[0] for _ in range(2))
    found = compare_runs([this], [other], wrong_share, 4000)["Err"]
    error = 100 * np.std(this[:, 0] - other[:, 0]) / SLOTS / 20
    assert found.high - found.difference == pytest.approx(1.97 * error, rel=0.05)
    assert found.difference == pytest.approx(100 * np.mean(this[:, 0] - other[:, 0]) / SLOTS)


def test_compare_runs_undefined():
    rng = np.random.default_rng(6)
    runs = runs_of(rng, np.full(5, 0.1), 0.01, 4)
    assert math.isnan(compare_runs([run[:1] for run in runs[:2]], [runs[2][:1]], wrong_share)["Err"].p)  # one unit
    found = compare_runs([runs[0], runs[0]], [runs[0]], wrong_share)["Err"]
    assert (found.difference, found.low, found.high, found.p) == (0, 0, 0, 1)
    found = compare_runs(runs[:2], [np.zeros_like(runs[0]), runs[3]], lambda counts: {
        "Err": np.where(counts.sum(-1), counts[..., 0], np.nan)})["Err"]
    assert math.isnan(found.difference)
    assert math.isnan(found.p)
