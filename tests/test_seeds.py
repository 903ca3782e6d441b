"""Systems with several seeds are one row, with mean and standard deviation."""

import math

from punc.results.findings import unknown_figures
from punc.results.page_data import PageData, PairedTest
from punc.results.pages import Settings, render
from punc.results.seeds import Spread, first_runs, join_seeds, runs_of, without_seed
from punc.scoring.significance import Interval

VALUES = {"A": 60.0, "A.seed2": 63.0, "A.seed3": 66.0, "B": 62.0, "C.seed2": 40.0}
METRICS = {(system, "ref"): {"overall.F1": Interval(value, value - 1, value + 1), "Err": Interval(9, 8, 10)}
           for system, value in VALUES.items()}


def test_join_seeds_mean_and_deviation():
    joined = join_seeds(METRICS)
    assert list(joined) == [("A", "ref"), ("B", "ref"), ("C.seed2", "ref")]
    assert joined["A", "ref"] == {"overall.F1": Spread(63.0, 3.0, 3), "Err": Spread(9.0, 0.0, 3)}
    assert joined["B", "ref"] is METRICS["B", "ref"]


def test_join_seeds_undefined_value_is_undefined():
    metrics = {("A", "ref"): {"Q.P": Interval(math.nan, 0, 0)}, ("A.seed2", "ref"): {"Q.P": Interval(5, 0, 0)}}
    assert math.isnan(join_seeds(metrics)["A", "ref"]["Q.P"].value)


def test_runs_of_a_row():
    names = ["A", "A.seed2", "AB", "C.seed2", "D.seed2", "D.seed3"]
    assert runs_of("A", names) == ["A", "A.seed2"]
    assert [runs_of(name, names) for name in ("A.seed2", "C", "C.seed2")] == [["A.seed2"], [], ["C.seed2"]]
    assert runs_of("D", names) == ["D.seed2", "D.seed3"]
    assert first_runs(names) == ["A", "AB", "C.seed2", "D.seed2"]


def test_without_seed_only_at_the_end():
    assert [without_seed(name) for name in ("A+p.seed12", "A.seed2+p", "A.seed")] == ["A+p", "A.seed2+p", "A.seed"]


def test_render_rows_with_seeds():
    data = PageData(METRICS, dict.fromkeys(METRICS, "labels:O+COMMA"),
                    [PairedTest("A", "B", "ref", "overall.F1", 1.0, -3.0, 5.0, 0.01)])
    pages = render(data, Settings("Toys", columns=["Err"], main_columns=["overall.F1@ref"]))
    assert "| A | **63.0** ± 3.0 |\n| B | 62.0 (61.0–63.0) |\n| C.seed2 | 40.0 (39.0–41.0) |" in pages["RESULTS.md"]
    assert "of trainings with several seeds (3: A); any other row is one run" in pages["RESULTS.md"]
    assert "| **A** | 9.0 ± 0.0 |" in pages["results/ref.md"]
    assert "| A | B | overall.F1 | 63.0 | 62.0 | +1.0 (-3.0 … +5.0) | 0.0100 |" in pages["results/ref.md"]
    assert "Of a system with several seeds the mean is tested" in pages["results/ref.md"]
    assert "- A, B, C: `labels:O+COMMA`" in pages["results/ref.md"]


def test_unknown_figures_means_and_deviations_are_known():
    assert unknown_figures("63.0 ± 3.0, not 61.0 ± 2.9", PageData(METRICS, {})) == ["61.0", "2.9"]
