"""The table of systems, and their tests against the best one."""

import pytest

from punc.results.collect import collect_scores, paired_tests
from punc.results.systems_table import systems_table


@pytest.mark.parametrize(("alpha", "verdict"), [(1, "worse"), (0, "not significant")])
def test_systems_table(experiment, monkeypatch, alpha, verdict):
    monkeypatch.setattr("punc.results.systems_table.ALPHA", alpha)
    scores = [score for score in collect_scores(experiment) if score.set == "test_ref"]
    found = systems_table(scores)
    assert found["best"] == "B"
    assert found["columns"][:3] == ["overall F1", "COMMA F1", "PERIOD F1"]
    assert "O F1" not in found["columns"]
    rows = {row["system"]: row for row in found["rows"]}
    assert rows["A"]["cells"][0] == scores[0].metrics["overall.F1"]
    test = paired_tests(scores, [("B", "A")], ["overall.F1"])[0]
    assert rows["B"]["test"] == "best"
    assert rows["A"]["test"] == f"{verdict}: {-test.difference:.1f}, p {test.p:.4f}"


def test_systems_table_other_slots_are_not_tested(experiment):
    scores = collect_scores(experiment)
    asr = next(score for score in scores if score.set == "test_asr")._replace(set="test_ref")
    other = next(score for score in scores if score.system == "A")
    row = next(row for row in systems_table([asr, other])["rows"] if row["system"] == "A")
    assert row["test"].startswith("not testable")
