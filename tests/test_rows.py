"""Rows of pages: systems with several seeds are one, and those of published pages are kept next to new ones."""

from itertools import pairwise

import pytest

from punc.base.errors import InputError
from punc.bin.main import main
from punc.results.page_data import Cost, PageData, PairedTest, read_page_data, write_page_data
from punc.results.pages import Settings, render
from punc.results.rows import Spread, dropped_rows, first_runs, join_seeds, keep_rows, runs_of
from punc.scoring.significance import Interval

SIGNED = "labels:O+COMMA|words:same|last-slot:true|slots:{}|marks:3|units:{}|seed:1|reference:{}|punc:0.1.0"


def page(*systems, sets=("ref",), value=50.0, units="5 streams", reference="abc", command="./run.sh"):
    """A page with one metric; each neighbouring pair of systems is tested."""
    keys = [(system, name) for name in sets for system in systems]
    return PageData({key: {"Err": Interval(value, value - 1, value + 1)} for key in keys},
                    {key: SIGNED.format(10, units, reference) for key in keys},
                    [PairedTest(this, other, name, "Err", 1.0, 0.0, 2.0, 0.5) for name in sets
                     for this, other in pairwise(systems)],
                    {system: Cost(system, 2, value, 100) for system in systems}, command)


def test_keep_rows_of_other_systems_in_the_order_of_the_page():
    merged = keep_rows(page("B", "D", value=1.0, command="./run.sh --systems 'B D'"), page("A", "B", "C"), "egs/toy",
                       ["A", "B", "C", "D"])
    assert [(*key, row["Err"].value) for key, row in merged.metrics.items()] == [
        ("A", "ref", 50), ("B", "ref", 1), ("C", "ref", 50), ("D", "ref", 1)]
    assert [*merged.signatures] == [*merged.metrics]
    # B is new, so what it was tested against before was another B.
    assert [(test.this, test.other) for test in merged.tests] == [("B", "D")]
    assert {name: cost.seconds for name, cost in merged.costs.items()} == {"A": 50, "B": 1, "C": 50, "D": 1}
    assert merged.command == "./run.sh\n./run.sh --systems 'B D'"


def test_keep_rows_a_new_system_replaces_its_rows_on_all_sets_and_its_seeds():
    kept = page("A", "A.seed2", "B", "B.seed2", sets=("asr", "ref"))
    kept.tests.append(PairedTest("B", "B.seed2", "asr", "Err", 1.0, 0.0, 2.0, 0.5))
    merged = keep_rows(page("A.seed3", value=2.0), kept, "egs/toy", (), ("ref", "asr"))
    assert [*merged.metrics] == [("A.seed3", "ref"), ("B", "ref"), ("B.seed2", "ref"), ("B", "asr"), ("B.seed2", "asr")]
    assert {(test.this, test.other) for test in merged.tests} == {("B", "B.seed2")}
    assert [test.set for test in merged.tests] == ["ref", "asr", "asr"]


@pytest.mark.parametrize(("change", "tests"), [
    ({}, {("A", "B"), ("B", "C"), ("C", "D")}),
    ({"value": 49.0}, {("A", "B"), ("C", "D")}),
    ({"sets": ("ref", "asr")}, {("A", "B"), ("C", "D")}),
    ({"seed": ".seed2"}, {("A", "B"), ("C", "D")})])
def test_keep_rows_tests_stay_with_a_system_that_repeats_its_figures(change, tests):
    """C is trained again, in all its runs, and is tested against D, which is new."""
    options = dict(change)
    seed = options.pop("seed", "")
    kept = page("A", "B", "C")
    kept.metrics["C", "ref"]["COMMA.P"] = Interval(float("nan"), float("nan"), float("nan"))
    new = page("C" + seed, "D", **options)
    for row in new.metrics.values():
        row["COMMA.P"] = Interval(float("nan"), float("nan"), float("nan"))
    new.tests = [PairedTest("C", "D", "ref", "Err", 1.0, 0.0, 2.0, 0.5)]
    merged = keep_rows(new, kept, "egs/toy")
    assert {(test.this, test.other) for test in merged.tests} == tests


@pytest.mark.parametrize("other", [{"reference": "abd"}, {"reference": ""}])
def test_keep_rows_of_another_reference_is_an_error(other):
    with pytest.raises(InputError, match=r"egs/toy: ref of A has reference:abc, here it is (abd)?; rows of other data"):
        keep_rows(page("B", **other), page("A"), "egs/toy")
    # It is of no consequence where the system is replaced, or the set is another one.
    assert len(keep_rows(page("A", **other), page("A"), "egs/toy").metrics) == 1
    assert len(keep_rows(page("B", sets=("asr",), **other), page("A"), "egs/toy").metrics) == 2


def scored(exp, system, errors):
    """A score of ten slots, by `punc score`."""
    for path, wrong in ((exp.parent / "data", 0), (exp / system / "decode_ref", errors)):
        path.mkdir(parents=True, exist_ok=True)
        labels = ["COMMA" if (number % 2) != (number < wrong) else "O" for number in range(10)]
        (path / "text").write_text("a " + " ".join("w" * 10) + "\n")
        (path / "punct").write_text("a " + " ".join(labels) + "\n")
        for table in ("utt2spk", "spk2utt"):
            (path / table).write_text("a a\n")
    (exp.parent / "labels.txt").write_text("O w\nCOMMA w, ,\n")
    out = exp / system / "decode_ref"
    assert main(["score", "--labels", str(exp.parent / "labels.txt"), str(exp.parent / "data"), str(out),
                 str(out / "score")]) == 0


def test_results_keep_adds_rows_of_another_machine(tmp_path):
    for machine, system, errors in (("one", "A", 2), ("two", "B", 3)):
        scored(tmp_path / machine / "exp", system, errors)
    first, second = (tmp_path / name / "exp" for name in ("one", "two"))
    assert main(["results", "--command", "./run.sh --systems A", str(first)]) == 0
    (first / "results/pauses.png").write_bytes(b"picture")
    assert main(["results", "--command", "./run.sh --systems B", "--keep", str(first), str(second)]) == 0
    data = read_page_data(second)
    assert {key: row["Err"].value for key, row in data.metrics.items()} == {("A", "ref"): 20.0, ("B", "ref"): 30.0}
    assert (second / "results/pauses.png").read_bytes() == b"picture"
    text = (second / "RESULTS.md").read_text()
    assert "```sh\n./run.sh --systems A\n./run.sh --systems B\n```" in text
    # What was rendered is a function of the tables, as of any page.
    assert main(["results", "--render", "true", str(second)]) == 0
    assert (second / "RESULTS.md").read_text() == text
    assert main(["results", "--render", "true", "--keep", str(first), str(second)]) == 1


@pytest.mark.parametrize(("new", "dropped"), [
    (page("C"), []),
    (page("A", "A.seed2", sets=("ref", "asr")), []),
    (page("A.seed3", sets=("ref", "asr")), [("A", "ref"), ("A.seed2", "ref"), ("A", "asr"), ("A.seed2", "asr")]),
    (page("A", "B"), [("A.seed2", "ref"), ("A", "asr"), ("A.seed2", "asr"), ("B", "asr")]),
])
def test_dropped_rows(new, dropped):
    assert dropped_rows(new, page("A", "A.seed2", "B", sets=("ref", "asr"))) == dropped


def test_results_names_the_kept_rows_that_leave_the_pages(tmp_path, capsys):
    write_page_data(tmp_path / "kept", page("A", "A.seed2", "B", reference="of no score here", sets=("asr",)))
    scored(tmp_path / "exp", "A", 2)
    assert main(["results", "--keep", str(tmp_path / "kept"), str(tmp_path / "exp")]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if "leave" in line]
    assert len(said) == 1
    assert said[0].startswith("punc results: A on asr, A.seed2 on asr leave the pages: ")


def test_results_names_the_tests_that_are_missing(tmp_path, capsys):
    """Not those that are kept."""
    first, second = tmp_path / "one/exp", tmp_path / "two/exp"
    scored(first, "A", 2)
    scored(first, "B", 3)
    scored(second, "C", 4)
    pairs = ["--compare", "A,B", "--compare", "A,C"]
    assert main(["results", *pairs, str(first)]) == 0
    capsys.readouterr()
    assert main(["results", *pairs, "--keep", str(first), str(second)]) == 0
    missing = [line for line in capsys.readouterr().err.splitlines() if "left out" in line]
    assert missing == ["punc results: no set has scores of both A and C: their test is left out"]
    assert {(test.this, test.other) for test in read_page_data(second).tests} == {("A", "B")}


def test_results_leaves_out_kept_tests_that_compare_no_longer_names(tmp_path):
    write_page_data(tmp_path, page("A", "B", "C"))
    for compare, pairs in (([], {("A", "B"), ("B", "C")}), (["--compare", "B,C", "--compare", "C,A"], {("B", "C")})):
        assert main(["results", *compare, "--render", "true", str(tmp_path)]) == 0
        rows = [line.split(" | ")[:2] for line in (tmp_path / "results/ref.md").read_text().splitlines()
                if "Err |" in line and "system" not in line]
        assert {(this.removeprefix("| "), other) for this, other in rows} == pairs
        assert len(read_page_data(tmp_path).tests) == 2


VALUES = {"A": 60.0, "A.seed2": 63.0, "A.seed3": 66.0, "B": 62.0, "C.seed2": 40.0}
METRICS = {(system, "ref"): {"overall.F1": Interval(value, value - 1, value + 1), "Err": Interval(9, 8, 10)}
           for system, value in VALUES.items()}


def test_join_seeds_mean_and_deviation():
    joined = join_seeds(METRICS)
    assert list(joined) == [("A", "ref"), ("B", "ref"), ("C.seed2", "ref")]
    assert joined["A", "ref"] == {"overall.F1": Spread(63.0, 3.0, 3), "Err": Spread(9.0, 0.0, 3)}
    assert joined["B", "ref"] is METRICS["B", "ref"]


def test_runs_of_a_row():
    names = ["A", "A.seed2", "AB", "C.seed2", "D.seed2", "D.seed3"]
    assert runs_of("A", names) == ["A", "A.seed2"]
    assert [runs_of(name, names) for name in ("A.seed2", "C", "C.seed2")] == [["A.seed2"], [], ["C.seed2"]]
    assert runs_of("D", names) == ["D.seed2", "D.seed3"]
    assert first_runs(names) == ["A", "AB", "C.seed2", "D.seed2"]


def test_render_rows_with_seeds():
    data = PageData(METRICS, dict.fromkeys(METRICS, "labels:O+COMMA"),
                    [PairedTest("A", "B", "ref", "overall.F1", 1.0, -3.0, 5.0, 0.01)])
    pages = render(data, Settings("Toys", columns=["Err"], main_columns=["overall.F1@ref"]))
    assert "| A | **63.0** ± 3.0 |\n| B | 62.0 (61.0–63.0) |\n| C.seed2 | 40.0 (39.0–41.0) |" in pages["RESULTS.md"]
    assert "of trainings with several seeds" in pages["RESULTS.md"]
    assert "| **A** | 9.0 ± 0.0 |" in pages["results/ref.md"]
    assert "| A | B | overall.F1 | 63.0 | 62.0 | +1.0 (-3.0 … +5.0) | 0.0100 |" in pages["results/ref.md"]
    assert "Of a system with several seeds the mean is tested" in pages["results/ref.md"]
    assert "- A, B, C: `labels:O+COMMA`" in pages["results/ref.md"]
