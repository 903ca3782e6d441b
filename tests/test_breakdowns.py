"""Scores of parts of a set: they add up to the set, and a group's F1 is the F1 of its slots."""

from itertools import pairwise

import numpy as np
import pytest

from punc.results.breakdowns import (
    DISTANCES,
    LENGTHS,
    PAUSES,
    POSITIONS,
    breakdown,
    breakdowns,
    by_stream,
    span_lengths,
)
from punc.results.collect import collect_scores
from punc.results.slot_table import read_slot_table


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


def test_by_stream_worst_first(table):
    found = by_stream(table)
    mean = np.mean(list(found.f1.values()), axis=0)
    assert (np.diff(mean) >= 0).all()
    for name, value in zip(found.groups, found.f1["B"]):
        assert value == pytest.approx(f1(table, "B", table.stream_of == table.streams.index(name)))
