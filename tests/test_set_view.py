"""The tables of a set: its figures are those of the score, its parts add up to it; curves against scikit-learn."""

from itertools import pairwise

import numpy as np
import pytest

from punc.results.collect import collect_scores
from punc.results.figures import styles
from punc.results.set_view import (
    DISTANCES,
    LENGTHS,
    PAUSES,
    POSITIONS,
    breakdown,
    breakdowns,
    by_stream,
    precision_recall,
    reliability,
    span_lengths,
    view,
)
from punc.results.slot_table import read_slot_table

pytest.importorskip("matplotlib")


def test_view(experiment):
    scores = [score for score in collect_scores(experiment) if score.set == "test_ref"]
    table = read_slot_table(scores, experiment.parent / "data")
    found = view(table, styles(["A", "B"]), "set1", {"rec01"})
    assert found["slots"] == 240
    rows = found["confusions"][0]["rows"]
    assert [[count for count, _ in row["cells"]] for row in rows] == table.confusion("A")[0].tolist()
    assert all(sum(share for _, share in row["cells"]) == pytest.approx(100) for row in rows)
    assert [system for system, _ in found["curves"]["rows"]] == ["B"]
    assert found["without_posteriors"] == ["A"]
    recall, precision = found["curves"]["rows"][0][1][0].operating
    metrics = scores[1].metrics
    assert (recall, precision) == pytest.approx((metrics["COMMA.R"].value, metrics["COMMA.P"].value))
    assert {row["group"] for row in found["streams"]["rows"] if row["shown"]} == {"rec01"}


def test_view_without_slots():
    assert view("no such data directory", {}, "set1", ()) == {"slots": None, "reason": "no such data directory"}


@pytest.fixture(scope="module", params=["test_ref", "test_asr"])
def table(request, experiment):
    return read_slot_table([score for score in collect_scores(experiment) if score.set == request.param],
                           experiment.parent / "data", "test_ref" if request.param == "test_asr" else "")


def f1(table, system, chosen):
    ref, hyp = table.reference[chosen], table.hypotheses[system].labels[chosen]
    both, wanted, written = np.sum((ref == hyp) & (ref > 0)), np.sum(ref > 0), np.sum(hyp > 0)
    return 200 * both / (wanted + written) if wanted + written else np.nan


def test_breakdown_group_is_its_slots(table):
    group = np.arange(len(table.words)) % 4 - 1  # a quarter is in no group, group 3 is empty
    found = breakdown(table, "title", ["x", "y", "z", "nothing"], group)
    assert found.groups == ["x", "y", "z"]
    for system, values in found.f1.items():
        np.testing.assert_allclose(values, [f1(table, system, group == i) for i in range(3)])


def test_breakdowns_cover_the_set(table):
    for found in [*breakdowns(table), by_stream(table)]:
        assert sum(found.slots) == len(table.words)
        assert sum(found.marks) == (table.reference > 0).sum()
    titles = [found.title for found in breakdowns(table)]
    assert len(titles) == (3 if table.recognition is None else 4)


def test_breakdowns_pauses(table):
    found = breakdowns(table)[0]
    assert found.groups == ["none", "0.01–0.1", "0.3–0.5", "from 1", "unknown"]
    system = next(iter(found.f1))
    np.testing.assert_allclose(found.f1[system], [
        f1(table, system, np.isnan(table.pauses) if np.isnan(pause) else np.isclose(table.pauses, pause))
        for pause in (0, 0.05, 0.4, 2, np.nan)])
    assert found.groups[-2] == f"from {PAUSES[-1]:g}"


def test_span_lengths_brute_force(table):
    lengths = []
    for begin, end in pairwise(table.begins.tolist()):
        words = 0
        for slot in range(begin, end):
            words += 1
            if table.reference[slot] or slot == end - 1:
                lengths += [words] * words
                words = 0
    assert span_lengths(table).tolist() == lengths
    *_, by_length, _ = breakdowns(table)
    assert by_length.slots[0] == sum(length < LENGTHS[1] for length in lengths)


def test_breakdowns_positions_and_distances(table):
    *_, positions = breakdowns(table)
    last = len(table.words) // 3  # of the slots of a stream
    assert positions.groups == ["1–5", "6–20", f"21–{POSITIONS[2]}"]
    assert positions.slots == [15, 45, 3 * (last - 20)]
    if table.recognition is not None:
        distances = breakdowns(table)[1]
        assert distances.groups[:2] == ["at an error", "1"]
        assert distances.slots[0] == (table.recognition.distance == 0).sum()
        assert distances.groups[-1] == f"from {DISTANCES[-1]}"


def test_precision_recall_average_precision_is_scikit_learns():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(3)
    for size in (5, 400):
        expected = rng.random(size) < 0.3
        expected[0] = True
        posterior = np.round(rng.random(size), 2)  # with ties
        found = precision_recall(posterior, expected, posterior > 0.5)
        assert found.average_precision == pytest.approx(100 * metrics.average_precision_score(expected, posterior))


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


def test_by_stream_worst_first(table):
    found = by_stream(table)
    mean = np.mean(list(found.f1.values()), axis=0)
    assert (np.diff(mean) >= 0).all()
    for name, value in zip(found.groups, found.f1["B"]):
        assert value == pytest.approx(f1(table, "B", table.stream_of == table.streams.index(name)))
