"""The table of systems, and their tests against the best one."""

from punc.report.systems_table import systems_table
from punc.scoring.collect import collect_scores, paired_tests


def test_systems_table(experiment):
    scores = [score for score in collect_scores(experiment) if score.set == "test_ref"]
    found = systems_table(scores)
    assert found["best"] == "B"
    assert found["columns"][:3] == ["overall F1", "COMMA F1", "PERIOD F1"]
    assert "O F1" not in found["columns"]
    rows = {row["system"]: row for row in found["rows"]}
    assert rows["A"]["cells"][0] == scores[0].metrics["overall.F1"]
    test = paired_tests(scores, [("B", "A")], ["overall.F1"])[0]
    assert rows["B"]["test"] == "best"
    assert rows["A"]["test"] == f"worse: {-test.difference:.1f}, p {test.p:.4f}"
    assert test.p < 0.05


def test_systems_table_other_slots_are_not_tested(experiment):
    scores = collect_scores(experiment)
    asr = next(score for score in scores if score.set == "test_asr")._replace(set="test_ref")
    other = next(score for score in scores if score.system == "A")
    row = next(row for row in systems_table([asr, other])["rows"] if row["system"] == "A")
    assert row["test"].startswith("not testable")
