"""README.md: its table has the figures of the recipes' RESULTS.tsv, and its links lead somewhere."""

import re
from pathlib import Path

import pytest

from punc.results.rows import join_seeds
from punc.scoring.significance import Interval
from punc.scoring.tables import read_tsv

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
# recipe: the metric of its row, the reference set, the ASR set if there is one
ROWS = {"english": ("overall.F1", "earnings_ref", "earnings_asr"), "iwslt_ted": ("overall.F1", "test_ref", "test_asr"),
        "iwslt_ted, encoder": ("overall.F1", "test_ref", "test_asr"),
        "europarl_ted": ("marks.F1", "test2011", "test2011asr"),
        "estonian_bn": ("Err", "test", None), "earnings": ("Err", "test_ref", "test_asr"),
        "earnings, encoder": ("overall.F1", "test_ref", "test_asr"),
        "japanese_twitter": ("overall.F1", "test_books_single", None), "news_smd": ("overall.F1", "test_matched", None)}
PLACES = {"iwslt_ted, encoder": "iwslt_ted/results/encoder",
          "earnings, encoder": "earnings/results/4-europarl"}  # pages that are not a recipe's first ones


def row(recipe):
    line = next(line for line in README.splitlines() if line.startswith(f"| [{recipe}]"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def values(path):
    """(system, set, metric) → value of a RESULTS.tsv; of several seeds, the mean."""
    header = ("system", "set", "metric", "value", "low", "high")
    metrics = {}
    for system, test, metric, *value in read_tsv(path, header, header[3:]):
        metrics.setdefault((system, test), {})[metric] = Interval(*value)
    return {(*row, metric): one.value for row, found in join_seeds(metrics).items() for metric, one in found.items()}


@pytest.mark.parametrize("recipe", ROWS)
def test_readme_table_is_of_results_tsv(recipe):
    metric, reference, asr = ROWS[recipe]
    _, _, system, *shown, _ = row(recipe)
    found = values(ROOT / "egs" / PLACES.get(recipe, recipe) / "RESULTS.tsv")
    name = "Err" if metric == "Err" else "F1"
    assert shown == [f"{name} {found[system, test, metric]:.1f}" if test else "–" for test in (reference, asr)]


@pytest.mark.parametrize("recipe", ROWS)
def test_readme_table_has_the_best_system(recipe):
    """On the reference set."""
    metric, reference, _ = ROWS[recipe]
    rows = values(ROOT / "egs" / PLACES.get(recipe, recipe) / "RESULTS.tsv")
    found = {system: value for (system, test, name), value in rows.items() if (test, name) == (reference, metric)}
    assert row(recipe)[2] == (min if metric == "Err" else max)(found, key=found.__getitem__)


def test_readme_table_has_every_published_recipe():
    assert set(ROWS) - set(PLACES) == {path.parent.name for path in ROOT.glob("egs/*/RESULTS.tsv")} - {"mini"}


def test_readme_engines_are_of_results_tsv():
    found = values(ROOT / "egs/earnings/results/4-europarl/RESULTS.tsv")
    ours = "MiniLM-p-podcasts-clean"
    assert all(found[ours, f"test_{engine}", "overall.F1"] > found[engine, f"test_{engine}", "overall.F1"] + 1
               for engine in ("amazon", "google", "microsoft", "speechmatics"))
    f1 = {metric: [f"{found[system, 'test_speechmatics', metric + '.F1']:.1f}" for system in ("speechmatics", ours)]
          for metric in ("overall", "QUESTION")}
    engine, own = f1["overall"]
    assert f"{own} against {engine} on those of Speechmatics" in README
    assert "better at question marks ({} against {},".format(*f1["QUESTION"]) in README


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#:]+)\)", README))))
def test_readme_links_exist(target):
    assert (ROOT / target).exists()
