"""Metrics equal published figures and figures computed by hand. Confidence intervals and significance tests are
checked by enumeration, against Welch's t test, and on simulated runs."""

import itertools
import math
import zlib
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.data.labels import Label, LabelSet
from punc.scoring import metrics as metrics_module
from punc.scoring.counts import Counts, confusion
from punc.scoring.metrics import METRICS, column_of, columns, compute_metrics, merged_labels, parse_collapse, rows_of
from punc.scoring.posteriors import BINS, bins_of
from punc.scoring.significance import bootstrap_sums, check_pair, compare, compare_runs, intervals
from punc.scoring.texts import score_texts

NAMES = {"O": "O", ",": "COMMA", ".": "PERIOD", "?": "QUESTION"}


@pytest.fixture(scope="module")
def labels():
    return LabelSet((Label("O", "w"), *(Label(name, f"w{mark}", (mark,)) for mark, name in list(NAMES.items())[1:])))


def slots(text):
    return np.array([list(NAMES).index(mark) for mark in text])


def table(ref, hyp):
    return confusion(slots(ref), slots(hyp), np.zeros(len(ref), int), 1, 4)[0]


NO = np.nan
# The columns: reference, hypothesis, metrics counted by hand.
EXAMPLES = [
    ("O,O.OO?", "O,O.OO?", {"COMMA.P": 100, "COMMA.R": 100, "COMMA.F1": 100, "overall.F1": 100, "Err": 0, "SER": 0,
                            "macro.F1": 100, "2-class.F1": 100, "3-class.F1": 100, "O.F1": 100}),
    # One comma is correct, one comma is missing, the period is replaced by a comma, and one mark is inserted.
    (",O.,OO", ",O,O.O", {"COMMA.P": 50, "COMMA.R": 50, "COMMA.F1": 50, "PERIOD.P": 0, "PERIOD.R": 0, "PERIOD.F1": 0,
                          "QUESTION.P": NO, "QUESTION.R": NO, "QUESTION.F1": NO, "macro.F1": 25,
                          "overall.P": 100 / 3, "overall.R": 100 / 3, "overall.F1": 100 / 3,
                          "2-class.P": 200 / 3, "2-class.R": 200 / 3, "Err": 50, "SER": 100,
                          "O.P": 200 / 3, "O.R": 200 / 3}),
    # The hypothesis has a period instead of a question mark. With 3 or 2 classes, this is correct.
    ("O?O.", "O.O.", {"PERIOD.P": 50, "PERIOD.R": 100, "QUESTION.P": NO, "QUESTION.R": 0, "QUESTION.F1": 0,
                      "overall.P": 50, "overall.R": 50, "3-class.F1": 100, "3-class.FULLSTOP.F1": 100,
                      "2-class.F1": 100, "Err": 25, "SER": 50}),
    ("OO.,", "OOOO", {"overall.P": NO, "overall.R": 0, "overall.F1": 0, "SER": 100, "Err": 50, "2-class.P": NO}),
    ("OO", "O.", {"overall.P": 0, "overall.R": NO, "overall.F1": 0, "SER": NO, "Err": 50, "PERIOD.R": NO}),
    ("OOO", "OOO", {"overall.P": NO, "overall.R": NO, "overall.F1": NO, "macro.F1": NO, "SER": NO, "Err": 0}),
]


@pytest.mark.parametrize(("ref", "hyp", "expected"), EXAMPLES)
def test_compute_metrics_hand_counted_examples(labels, ref, hyp, expected):
    collapses = [parse_collapse(text, labels) for text in ("2-class", "3-class:FULLSTOP=PERIOD+QUESTION")]
    found = compute_metrics(table(ref, hyp), labels, collapses)
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, nan_ok=True), name


texts = st.integers(1, 40).flatmap(lambda n: st.tuples(*[st.text("O,.?", min_size=n, max_size=n)] * 2))


@given(texts)
def test_prf_equals_sets_of_slot_and_label(labels, pair):
    ref, hyp = ({(i, mark) for i, mark in enumerate(text) if mark != "O"} for text in pair)
    found = compute_metrics(table(*pair), labels, [parse_collapse("2-class", labels)])
    for name, mark in [("overall", None), *((NAMES[mark], mark) for mark in ",.?")]:
        theirs, ours = ({pair for pair in side if mark in (None, pair[1])} for side in (ref, hyp))
        assert_prf(found, name, len(theirs & ours), len(ours), len(theirs))
    positions, guessed = {i for i, _ in ref}, {i for i, _ in hyp}
    assert_prf(found, "2-class", len(positions & guessed), len(guessed), len(positions))


def assert_prf(found, name, right, predicted, expected):
    precision = right / predicted if predicted else np.nan
    recall = right / expected if expected else np.nan
    assert found[f"{name}.P"] == pytest.approx(100 * precision, nan_ok=True)
    assert found[f"{name}.R"] == pytest.approx(100 * recall, nan_ok=True)
    if right:
        assert found[f"{name}.F1"] == pytest.approx(200 * precision * recall / (precision + recall))


@given(texts)
def test_ser_and_err_count_each_error(labels, pair):
    substitutions = deletions = insertions = 0
    for ref, hyp in zip(*pair):
        if ref != "O" and hyp != "O" and ref != hyp:
            substitutions += 1
        elif ref != "O" and hyp == "O":
            deletions += 1
        elif ref == "O" and hyp != "O":
            insertions += 1
    wrong, marks = substitutions + deletions + insertions, len(pair[0].replace("O", ""))
    found = compute_metrics(table(*pair), labels)
    assert found["SER"] == pytest.approx(100 * wrong / marks if marks else np.nan, nan_ok=True)
    assert found["Err"] == pytest.approx(100 * wrong / len(pair[0]))


def test_overall_micro_average_of_published_table(labels):
    """In Che et al. 2016, the overall P and R (table 2) follow from those of each label (table 3) and from the numbers
    of marks (table 1)."""
    expected = np.array([830, 808, 46])
    right = np.round(expected * [0.357, 0.648, 0])
    predicted = np.array([right[0] / 0.582, right[1] / 0.616, 0]).round()
    counts = np.zeros((4, 4))
    counts[[1, 2, 3], [1, 2, 3]] = right
    counts[1:, 0] = expected - right  # P and R do not depend on what is written instead of a mark
    counts[0, 1:] = predicted - right
    found = compute_metrics(counts, labels)
    assert [found[f"overall.{part}"] for part in ("P", "R", "F1")] == pytest.approx([60.3, 48.6, 53.8], abs=0.1)


def test_ser_published_example(labels):
    """In Che et al. 2016 (table 2), CNN-2A's SER of 68.0 follows from its 4-class and 2-class figures and from the
    number of marks, 1,684."""
    right, positions = round(1684 * 0.550), round(1684 * 0.799)
    predicted = round(positions / 0.776)
    counts = np.zeros((4, 4))
    counts[1, 1], counts[1, 2] = right, positions - right
    counts[1, 0], counts[0, 1] = 1684 - positions, predicted - positions
    found = compute_metrics(counts, labels, [parse_collapse("2-class", labels)])
    assert found["overall.P"] == pytest.approx(53.4, abs=0.1)
    assert found["2-class.F1"] == pytest.approx(78.8, abs=0.1)
    assert found["SER"] == pytest.approx(68.0, abs=0.15)


def test_per_published_example():
    """In this example from NeMo's documentation, one mark is correct, one wrong, one missing and one inserted."""
    marks = LabelSet((Label("O", "w"), *(Label(name, f"w{name}", (name,)) for name in ".,!?")))
    texts = "Hi, dear! Nice to see you. What's", "Hi dear! Nice to see you! What's?"
    assert score_texts(*texts, marks)["PER"] == 75


def test_sentence_ends_counted_by_hand(labels):
    """One of 3 sentence ends is missed, and a fourth one is inserted, so the error is 2/3. Another sentence end has a
    different mark in the hypothesis, which is not an error."""
    found = compute_metrics(table("O.,O?.", "O?.OO."), labels)
    assert found["SU-error"] == pytest.approx(100 * 2 / 3)
    assert (found["sentence.P"], found["sentence.R"]) == pytest.approx((100 * 2 / 3, 100 * 2 / 3))


def test_capitals_counted_by_hand():
    stop = (".",)
    cased = LabelSet((Label("O", "w"), Label("CAP", "W"), Label("PERIOD", "w.", stop), Label("CAP_PERIOD", "W.", stop)))
    # 2 of 3 capitals are found. One word wrongly gets a capital.
    ref, hyp = np.array([1, 0, 2, 3, 1, 0]), np.array([1, 1, 2, 1, 0, 0])
    found = compute_metrics(confusion(ref, hyp, np.zeros(6, int), 1, 4)[0], cased)
    assert found["capital.accuracy"] == pytest.approx(100 * 4 / 6)
    assert (found["capital.P"], found["capital.R"]) == pytest.approx((100 * 2 / 3, 100 * 2 / 3))
    assert column_of("capital.accuracy") == "capital.accuracy"


def test_capitals_and_sentences_only_where_labels_have_them():
    found = compute_metrics(np.eye(2), LabelSet((Label("O", "w"), Label("COMMA", "w,"))))
    assert not [name for name in found if name.startswith(("capital", "sentence", "SU"))]


def edit_distance(ref, hyp):
    row = list(range(len(hyp) + 1))
    for i, word in enumerate(ref, 1):
        last, row[0] = row[0], i
        for j, other in enumerate(hyp, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (word != other))
    return row[-1]


@given(*[st.lists(st.sampled_from(["a", "A", "a,", "b.", "B", "c"]), min_size=1, max_size=12)] * 2)
def test_word_error_rates_by_brute_force(ref, hyp):
    found = score_texts(" ".join(ref), " ".join(hyp))
    bare = [[word.rstrip(",.") for word in side] for side in (ref, hyp)]
    lower = [[word.lower() for word in side] for side in bare]
    for name, sides in (("WER", lower), ("WER_C", bare), ("WER_PC", (ref, hyp))):
        assert found[name] == pytest.approx(100 * edit_distance(*sides) / len(ref)), name


@settings(max_examples=30)
@given(st.lists(st.tuples(st.floats(0, 1, width=32), st.booleans()), min_size=1, max_size=30).filter(
    lambda rows: any(right for _, right in rows)))
def test_auprc_by_brute_force(rows):
    posteriors, right = np.array([p for p, _ in rows], np.float32), np.array([int(one) for _, one in rows])
    bins, area, recall = bins_of(posteriors), 0.0, 0.0
    for threshold in sorted(set(bins), reverse=True):
        found = bins >= threshold
        new = right[found].sum() / right.sum()
        area, recall = area + (new - recall) * right[found].mean(), new
    histograms = np.zeros((2, 2, BINS))
    np.add.at(histograms[1], (right, bins), 1)
    two = LabelSet((Label("O", "w"), Label("COMMA", "w,")))
    found = compute_metrics(np.eye(2), two, posteriors=histograms)
    assert found["COMMA.AUPRC"] == pytest.approx(100 * area)


def test_compute_metrics_many_sums_at_once(labels):
    counts = np.random.default_rng(1).integers(0, 9, (3, 5, 4, 4))
    collapse = [parse_collapse("2-class", labels)]
    for name, values in compute_metrics(counts, labels, collapse).items():
        assert values.shape == (3, 5), name
        assert values[1, 2] == pytest.approx(compute_metrics(counts[1, 2], labels, collapse)[name])


def test_compute_metrics_order_of_rows(labels):
    collapses = [parse_collapse(text, labels) for text in ("2-class", "3-class:FULLSTOP=PERIOD+QUESTION")]
    found = compute_metrics(table(",O.?", ",O.?"), labels, collapses)
    assert columns(found) == ["COMMA", "PERIOD", "QUESTION", "overall", "macro.F1", "Err", "SER", "PER", "2-class",
                              "3-class", "3-class.FULLSTOP", "sentence", "SU-error", "O"]


def test_docs_have_the_table_of_metrics():
    page = (Path(__file__).parents[1] / "docs/metrics.md").read_text(encoding="utf-8")
    rows = []
    for metric in METRICS:
        name = f"`{metric.name}`" if metric.single else f"`{metric.name}.P`, `.R`, `.F1`"
        rows.append(f"| {name} | {metric.meaning} | {metric.source} |")
    assert "\n| row | is | source |\n|---|---|---|\n" + "\n".join(rows) + "\n\n" in page


def test_columns_group_rows():
    names = ["COMMA.P", "COMMA.R", "COMMA.F1", "overall.P", "overall.R", "overall.F1", "macro.F1", "Err", "SER",
             "3-class.P", "3-class.R", "3-class.F1", "3-class.FULL.P", "3-class.FULL.F1", "O.F1"]
    assert columns(names) == ["COMMA", "overall", "macro.F1", "Err", "SER", "3-class", "3-class.FULL", "O"]
    assert {name for name in names if metrics_module.is_summary(name)} == {
        "COMMA.F1", "overall.F1", "macro.F1", "Err", "SER", "3-class.F1", "3-class.FULL.F1", "O.F1"}
    assert all(name in rows_of(column_of(name)) for name in names)
    assert {name for name in names if metrics_module.lower_is_better(name)} == {"Err", "SER"}


@pytest.mark.parametrize(("text", "classes", "numbers"), [
    ("2-class", ("O", "PUNCTUATED"), [0, 1, 1, 1]),
    ("3-class:FULLSTOP=PERIOD+QUESTION", ("O", "COMMA", "FULLSTOP"), [0, 1, 2, 2]),
    ("period:NOT=O+COMMA+QUESTION", ("NOT", "PERIOD"), [0, 0, 1, 0]),
    ("x:A=COMMA+QUESTION,B=PERIOD", ("O", "A", "B"), [0, 1, 2, 1]),
])
def test_parse_collapse_classes(labels, text, classes, numbers):
    collapse = parse_collapse(text, labels)
    assert (collapse.classes, collapse.number.tolist()) == (classes, numbers)


@pytest.mark.parametrize("text", ["x:A=NONE", "x:A=COMMA,B=COMMA", "x:=COMMA", ":A=COMMA", "x:", "overall", "COMMA",
                                  "capital", "sentence"])
def test_parse_collapse_wrong_text_raises(labels, text):
    with pytest.raises(InputError, match="NAME:CLASS=LABEL"):
        parse_collapse(text, labels)


def test_merge_sums_counts_of_classes():
    labels = LabelSet((Label("O", "w"), Label("CAP", "W"), Label("COMMA", "w,"), Label("CAP_COMMA", "W,")))
    counts = np.arange(32).reshape(2, 4, 4)
    classes, class_of = merged_labels(labels, "O=O+CAP,COMMA=COMMA+CAP_COMMA")
    merged = metrics_module.merge_counts(counts, class_of, len(classes))
    assert merged[0].tolist() == [[0 + 1 + 4 + 5, 2 + 3 + 6 + 7], [8 + 9 + 12 + 13, 10 + 11 + 14 + 15]]
    assert merged.sum() == counts.sum()
    assert [(label.name, label.written) for label in classes] == [("O", "w"), ("COMMA", "w,")]


def test_merge_unknown_label_raises(labels):
    with pytest.raises(InputError, match="'NONE' is not a label"):
        merged_labels(labels, "O=NONE")


LABELS = LabelSet((Label("O", "w"), Label("COMMA", "w,"), Label("PERIOD", "w.")))
MEASURE = partial(compute_metrics, labels=LABELS)


def system(units, right, seed=1, slots=40):
    """Return the confusion counts of a system. It labels a slot correctly with probability `right`, or else at
    random."""
    rng = np.random.default_rng(seed)
    reference = np.random.default_rng(99).choice(3, (units, slots), p=(0.8, 0.1, 0.1))
    hypothesis = np.where(rng.random((units, slots)) < right, reference, rng.integers(0, 3, (units, slots)))
    counts = np.zeros((units, 3, 3), int)
    np.add.at(counts, (np.arange(units)[:, None], reference, hypothesis), 1)
    return counts


def test_intervals_two_units_by_enumeration():
    """Two units a and b are resampled as (a, a), (a, b), (b, a) and (b, b) equally often, so the bounds of the interval
    are the Err of a and the Err of b."""
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
    """If there are many units, the replicates are drawn in several groups. This does not change the values."""
    counts = system(30, 0.8)
    one, other = intervals(counts, MEASURE, 100, seed=5), intervals(counts, MEASURE, 100, seed=6)
    assert one == intervals(counts, MEASURE, 100, seed=5)
    assert one != other
    many = np.concatenate([counts, np.zeros((70_000, 3, 3), int)])  # replicates are drawn in groups of 59
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


def test_compare_p_by_enumeration():
    """Each of six units can be swapped between the systems or not, which gives 64 combinations. p approximates the
    fraction of combinations with a difference at least as large as the observed one, in either direction."""
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
    with pytest.raises(InputError, match=r"exp/b: the units differ .* from u1"):
        check_pair(one, Counts(["u0", "v", "u2", "u3"], one.confusion), "exp/b")
    with pytest.raises(InputError, match=r"the units differ .* from the last one on"):
        check_pair(one, Counts(units[:3], one.confusion[:3]), "exp/b")
    with pytest.raises(InputError, match="the reference labels differ"):
        check_pair(one, Counts(units, one.confusion.swapaxes(1, 2)), "exp/b")
    with pytest.raises(InputError, match="the reference labels differ"):
        check_pair(one, Counts(units, np.zeros((4, 4, 4), int)), "exp/b")


SLOTS = 200  # slots in each unit


def wrong_share(counts):
    return {"Err": 100 * counts[..., 0] / counts.sum(-1)}


def runs_of(rng, shares, noise, seeds):
    """Return the numbers of wrong and right slots, (units, 2), of each run. The error rate of a unit is its item in
    `shares` plus noise, which is the same for all units of a run."""
    found = []
    for _ in range(seeds):
        wrong = rng.binomial(SLOTS, np.clip(shares + rng.normal(0, noise), 0.001, 0.999))
        found.append(np.stack([wrong, SLOTS - wrong], 1))
    return found


def rejected(test, noise, seeds=(3, 3), units=30, trials=300):
    """Return the fraction of trials in which `test` finds a significant difference (p < 0.05) between systems that
    differ only in seeds."""
    rng, found = np.random.default_rng(5), 0
    for _ in range(trials):
        shares = rng.uniform(0.05, 0.25, units)  # units differ in difficulty
        found += test(*(runs_of(rng, shares, noise, number) for number in seeds)) < 0.05
    return found / trials


def p_of_runs(these, others):
    return compare_runs(these, others, wrong_share, 200)["Err"].p


@pytest.mark.parametrize(("noise", "seeds"), [(0.02, (3, 3)), (0.0, (3, 3)), (0.02, (2, 5))])
def test_compare_runs_rejects_equal_systems_in_5_percent(noise, seeds):
    assert 0.01 < rejected(p_of_runs, noise, seeds) < 0.085  # at most 0.05 + 2.75 standard errors


def test_compare_runs_finds_a_difference():
    rng = np.random.default_rng(1)
    shares = rng.uniform(0.05, 0.25, 30)
    found = compare_runs(runs_of(rng, shares, 0.003, 3), runs_of(rng, shares + 0.05, 0.003, 3), wrong_share)["Err"]
    assert found.p < 0.01
    assert found.low < -5 < found.high < 0


def test_compare_runs_equal_units_is_welch_t_test():
    """If all units of a run have the same error rate, they add no noise, and the test is Welch's t test."""
    these, others = ([np.tile([wrong, SLOTS - wrong], (12, 1)) for wrong in side] for side in ([10, 14, 12], [20, 17]))
    found = compare_runs(these, others, wrong_share)["Err"]
    assert (found.this, found.other, found.difference) == pytest.approx((6, 9.25, -3.25))
    from scipy import stats  # imported here, because it takes a second and only this test needs it
    welch = stats.ttest_ind([5, 7, 6], [10, 8.5], equal_var=False)
    assert found.p == pytest.approx(welch.pvalue)
    assert (found.low, found.high) == pytest.approx(tuple(welch.confidence_interval()))


def test_compare_runs_single_runs_is_the_paired_bootstrap():
    """With one run of each system, only units add noise, so the standard error is that of the mean of the units'
    differences."""
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
