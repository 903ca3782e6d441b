"""RESULTS.tsv and RESULTS.md, through the command, from scores of toy systems."""

import pytest

from punc.bin.main import main
from punc.data.datadir import Utterance, write_data_dir
from punc.scoring.results import collect, read_published

PUBLISHED = """# Figures of a paper.
system\tset\tmetric\tvalue\tsource
good\ttest\tCOMMA.F1\t71.5\tA & B 2001, table 1
good\ttest\tErr\t9.25\tC 2002
theirs\ttest\toverall.P\t50\tA & B 2001, table 1
theirs\ttest\toverall.R\t40\tA & B 2001, table 1
theirs\ttest\toverall.F1\t44.4\tA & B 2001, table 1
theirs\telsewhere\tErr\t77.7\tA & B 2001, table 1
"""


@pytest.fixture
def exp(tmp_path, monkeypatch):
    """exp/{good,bad,always}/decode_{test,asr}/score, and published.tsv."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.txt").write_text("O w\nCOMMA w, ,\nPERIOD w. .\n", encoding="utf-8")
    (tmp_path / "published.tsv").write_text(PUBLISHED, encoding="utf-8")
    reference = ["O", "COMMA", "O", "PERIOD"]
    outputs = {"ref": [reference] * 20, "good": [reference] * 15 + [["O", "O", "O", "PERIOD"]] * 5,
               "bad": [["O", "O", "COMMA", "PERIOD"]] * 20, "always": [["O", "O", "O", "PERIOD"]] * 20}
    for name, labels in outputs.items():
        write_data_dir(name, [Utterance(f"u{i:02}", f"u{i:02}", list("abcd"), of, None) for i, of in enumerate(labels)])
    for system, set in [("good", "test"), ("bad", "test"), ("always", "test"), ("bad", "asr")]:
        assert main(["score", "--labels", "labels.txt", "--replicates", "100", "ref", system,
                     f"exp/{system}/decode_{set}/score"]) == 0
    return tmp_path


def results(*options):
    return main(["results", *options, "exp", "RESULTS"])


def cells(text, row):
    """The cells of the first table row that begins with `row`."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {row} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_tsv_has_every_figure_once_in_order(exp, capsys):
    (exp / "exp/good/decode_dev").mkdir()
    assert results("--published", "published.tsv") == 0
    assert "exp/good/decode_dev has no score" in capsys.readouterr().err
    lines = [line.split("\t") for line in (exp / "RESULTS.tsv").read_text().splitlines()]
    assert lines[0] == ["system", "set", "metric", "value", "low", "high"]
    keys = [tuple(line[:3]) for line in lines[1:]]
    assert len(keys) == len(set(keys))
    assert list(dict.fromkeys(key[:2] for key in keys)) == [("bad", "asr"), ("always", "test"), ("bad", "test"),
                                                            ("good", "test")]
    of = {key: line[3:] for key, line in zip(keys, lines[1:])}
    assert of["good", "test", "Err"] == next(line.split("\t")[1:] for line in
                                             (exp / "exp/good/decode_test/score/figures.tsv").read_text().splitlines()
                                             if line.startswith("Err\t"))
    assert float(of["always", "test", "Err"][0]) == 25
    assert not any(line[0] == "theirs" for line in lines)  # published figures are not ours


def test_order_can_be_given(exp):
    order = [(score.set, score.system) for score in collect("exp", ["good", "always"], ["test"])]
    assert order == [("test", "good"), ("test", "always"), ("test", "bad"), ("asr", "bad")]


def test_page(exp):
    (exp / "notes.md").write_text("## Notes\n\nMeasured on\n\n    a machine.\n", encoding="utf-8")
    assert results("--title", "Toys", "--command", "./run.sh --stage 7", "--published", "published.tsv",
                   "--systems", "good", "--notes", "notes.md") == 0
    text = (exp / "RESULTS.md").read_text()
    assert text.startswith("# Toys\n\nMade by\n\n```sh\n./run.sh --stage 7\n```\n")
    assert text.endswith("## Notes\n\nMeasured on\n\n    a machine.\n")
    test = text[text.index("## test"):]
    header = cells(test, "system")
    assert header == ["system", "COMMA", "PERIOD", "overall", "macro.F1", "Err", "SER", "2-class"]
    ours = dict(zip(header, cells(test, "**good**")))
    assert ours["COMMA"].startswith("100.0 / 75.0 / 85.7 (")
    assert ours["Err"].startswith("6.2 (")  # 6.25 %, rounded to even
    assert dict(zip(header, cells(test, "**always**")))["COMMA"] == "– / 0.0 / 0.0 (0.0–0.0)"
    published = dict(zip(header, cells(test, "good, published [1, 2]")))
    assert (published["COMMA"], published["Err"], published["PERIOD"]) == ("– / – / 71.5", "9.2", "")
    assert dict(zip(header, cells(test, "theirs, published [1]")))["overall"] == "50.0 / 40.0 / 44.4"
    rows = [line.split("|")[1].strip() for line in test.splitlines() if line.startswith("| ")]
    assert rows == ["system", "**good**", "good, published [1, 2]", "**always**", "**bad**", "theirs, published [1]"]
    assert "\n1. A & B 2001, table 1\n2. C 2002\n" in text
    assert "77.7" not in text
    signed = (exp / "exp/good/decode_test/score/signature").read_text().strip()
    assert f"- test, good, always, bad: `{signed}`" in text


def test_page_is_the_same_again(exp):
    results("--compare", "good,bad")
    before = (exp / "RESULTS.md").read_bytes(), (exp / "RESULTS.tsv").read_bytes()
    results("--compare", "good,bad")
    assert ((exp / "RESULTS.md").read_bytes(), (exp / "RESULTS.tsv").read_bytes()) == before


def test_columns_can_be_chosen(exp):
    assert results("--columns", "overall O") == 0
    assert cells((exp / "RESULTS.md").read_text(), "system") == ["system", "overall", "O"]


def test_compare(exp):
    assert results("--compare", "good,bad") == 0
    text = (exp / "RESULTS.md").read_text()
    section = text[text.index("## good against bad"):]
    rows = {line.split("|")[2].strip(): [cell.strip() for cell in line.split("|")[1:-1]]
            for line in section.splitlines() if line.startswith("| test")}
    assert rows["Err"][:4] == ["test", "Err", "6.2", "50.0"]
    assert float(rows["Err"][5]) < 0.01
    assert rows["PERIOD.F1"][4:] == ["+0.0 (+0.0 … +0.0)", "1.0000"]
    assert "O.F1" not in rows


def test_what_is_tested_can_be_chosen(exp):
    assert results("--compare", "good,bad", "--tested", "SER Err") == 0
    text = (exp / "RESULTS.md").read_text()
    section = text[text.index("## good against bad"):]
    assert [line.split("|")[2].strip() for line in section.splitlines() if line.startswith("| test")] == ["Err", "SER"]


@pytest.mark.parametrize(("options", "message"), [
    (["--compare", "good"], "--compare=good is not a pair"),
    (["--compare", "good,bad", "--tested", "overall"], "there is no test of 'overall'; there are "),
    (["--compare", "good,none"], "no set on which both 'good' and 'none' are scored"),
    (["--columns", "DASH"], "no score has a column 'DASH'; there are COMMA PERIOD overall"),
    (["--published", "none"], "none: no such file"),
    (["--published", "labels.txt"], "labels.txt:1: not a line of this table; columns, with tabs between: system set"),
    (["--notes", "none"], "none: no such file"),
])
def test_a_users_mistake_is_one_line_and_leaves_the_results(exp, capsys, options, message):
    results()
    before = (exp / "RESULTS.md").read_bytes(), (exp / "RESULTS.tsv").read_bytes()
    capsys.readouterr()
    assert results(*options) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith("punc results: ")
    assert message in error
    assert ((exp / "RESULTS.md").read_bytes(), (exp / "RESULTS.tsv").read_bytes()) == before


def test_no_scores(tmp_path, capsys):
    assert main(["results", str(tmp_path), str(tmp_path / "RESULTS")]) == 1
    assert "no scores; punc score writes them" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_published_figures_of_a_recipe_agree_with_each_other(pytestconfig):
    """F1 is the harmonic mean of P and R in every published row that has all three, within rounding."""
    paths = list(pytestconfig.rootpath.glob("egs/*/conf/published.tsv"))
    assert paths
    for path in paths:
        of = {(row.system, row.set, row.metric): row.value for row in read_published(path)}
        for (system, set, metric), f1 in of.items():
            p, r = (of.get((system, set, metric.replace(".F1", part))) for part in (".P", ".R"))
            if metric.endswith(".F1") and p and r:
                # A paper that gives whole percents rounds P, R and F1 by up to a half each.
                rounding = 1.0 if f1 % 1 == p % 1 == r % 1 == 0 else 0.16
                assert f1 == pytest.approx(2 * p * r / (p + r), abs=rounding), (system, set, metric)
