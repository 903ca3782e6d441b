"""The tables of a set: figures are those of the score."""

import pytest

from punc.results.collect import collect_scores
from punc.results.figures import styles
from punc.results.set_view import view
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
