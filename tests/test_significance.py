"""Intervals and paired tests against closed forms, enumeration, and properties of any data."""

import itertools
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.data.labels import Label, LabelSet
from punc.scoring import significance
from punc.scoring.counts import Counts
from punc.scoring.metrics import compute_metrics
from punc.scoring.significance import both_flat, check_pair, compare, intervals
from punc.scoring.stream_counts import FORMS, OUTCOMES

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


def test_intervals_err_equals_normal_approximation():
    """With units of one size Err is a mean over units: its interval is ± 1.96 standard errors."""
    counts = system(400, 0.9)
    found = intervals(counts, MEASURE, 4000)["Err"]
    wrong = 100 * (1 - np.trace(counts, axis1=1, axis2=2) / 40)
    assert found.value == pytest.approx(wrong.mean())
    half = 1.96 * wrong.std() / len(wrong) ** 0.5
    assert (found.low, found.high) == pytest.approx((found.value - half, found.value + half), abs=0.1 * half)


def test_intervals_two_units_by_enumeration():
    """Resampling 2 units gives (a, a), (a, b), (b, a), (b, b), equally likely: 95 % is from Err of a to Err of b."""
    counts = np.array([np.diag([6, 2, 2]), [[4, 2, 0], [0, 2, 0], [0, 0, 2]]])
    found = intervals(counts, MEASURE)["Err"]
    assert found == pytest.approx((10, 0, 20))


@settings(max_examples=20, deadline=None)
@given(st.integers(20, 60), st.floats(0.3, 0.95), st.integers(0, 99))
def test_intervals_contain_the_value(units, right, seed):
    for name, found in intervals(system(units, right, seed), MEASURE, 300).items():
        assert found.low <= found.value <= found.high, name


def test_intervals_shrink_with_data():
    small, large = (intervals(system(units, 0.8), MEASURE) for units in (50, 5000))
    for name in small:
        ratio = (small[name].high - small[name].low) / (large[name].high - large[name].low)
        assert 6 < ratio < 16, name  # the root of 100, but for chance


def test_intervals_perfect_system_is_100():
    counts = system(30, 1.0)
    found = intervals(counts, MEASURE, 200)
    assert all(found[f"{name}.F1"] == (100, 100, 100) for name in ("COMMA", "PERIOD", "overall", "O"))
    assert found["Err"] == found["SER"] == (0, 0, 0)


def test_intervals_one_unit_has_no_bounds():
    counts = system(1, 0.8)
    found = intervals(counts, MEASURE)["Err"]
    assert found.value == pytest.approx(float(MEASURE(counts[0])["Err"]))
    assert np.isnan(found.low)
    assert np.isnan(found.high)


def test_intervals_cover_the_truth_in_95_percent():
    """Err of systems that are right in a known share of slots, in 300 samples."""
    truth = 100 * (1 - 0.7) * 2 / 3  # a third of the random labels is right by chance
    covered = 0
    for seed in range(300):
        found = intervals(system(60, 0.7, seed), MEASURE, 400)["Err"]
        covered += found.low <= truth <= found.high
    assert 0.90 <= covered / 300 <= 0.99


def test_intervals_other_order_of_units():
    counts = system(60, 0.8)
    one, two = intervals(counts, MEASURE, 4000), intervals(counts[::-1], MEASURE, 4000)
    for name in one:
        assert one[name].value == two[name].value
        assert one[name] == pytest.approx(two[name], abs=0.12 * (one[name].high - one[name].low))


def test_intervals_same_seed_same_values(monkeypatch):
    counts = system(30, 0.8)
    one, other = intervals(counts, MEASURE, 100, seed=5), intervals(counts, MEASURE, 100, seed=6)
    assert one == intervals(counts, MEASURE, 100, seed=5)
    assert one != other
    for weights in (90, 1):  # three replicates at a time, and one
        monkeypatch.setattr(significance, "WEIGHTS_AT_ONCE", weights)
        assert one == intervals(counts, MEASURE, 100, seed=5)


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


def test_compare_alike_systems_p_is_uniform():
    """p of two systems that are alike is uniform: it is below 0.1 in about a tenth of the cases."""
    p = [compare(system(30, 0.8, 2 * i), system(30, 0.8, 2 * i + 1), MEASURE, 200)["Err"].p for i in range(200)]
    assert 0.04 < np.mean(np.array(p) < 0.1) < 0.17
    assert 0.35 < np.median(p) < 0.65


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


def test_compare_one_unit_has_no_bounds():
    one, two = (compare(system(units, 0.9), system(units, 0.7, 2), MEASURE, 100)["Err"] for units in (1, 2))
    assert np.isnan([one.low, one.high]).all()
    assert two.low < two.high


def test_both_flat_has_word_errors_if_both_have_them():
    confusion, words = system(4, 0.8), np.arange(4 * FORMS * OUTCOMES).reshape(4, FORMS, OUTCOMES)
    units = [f"u{i}" for i in range(4)]
    bare, full = Counts(units, confusion), Counts(units, confusion, words=words)
    assert [one.tolist() for one in both_flat(full, full)] == 2 * [full.flat.tolist()]
    for pair in ((full, bare), (bare, full), (bare, bare)):
        assert [one.tolist() for one in both_flat(*pair)] == 2 * [bare.flat.tolist()]
    assert full.flat.shape != bare.flat.shape


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
