"""`punc results` from scores of toy systems: RESULTS.tsv, the pages, and wrong options."""

from pathlib import Path

import pytest

from punc.bin.main import main
from punc.data.datadir import Utterance
from punc.data.datadir_writer import write_data_dir

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
        (tmp_path / "exp" / system / "conf").write_text("# punc 0, store data/store\n--model=m\n--train-set=train\n")
    return tmp_path


def results(*options):
    return main(["results", *options, "exp"])


def files():
    """What punc results wrote, by name."""
    written = [*Path("exp").glob("RESULTS.*"), *Path("exp/results").glob("*")]
    return {str(path): path.read_bytes() for path in written}


def cells(text, row):
    """The cells of the first table row that begins with `row`."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {row} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_results_tsv_has_every_figure_once_in_order(exp, capsys):
    (exp / "exp/good/decode_dev").mkdir()
    assert results("--published", "published.tsv") == 0
    assert "exp/good/decode_dev has no score" in capsys.readouterr().err
    lines = [line.split("\t") for line in (exp / "exp/RESULTS.tsv").read_text().splitlines()]
    assert lines[0] == ["system", "set", "metric", "value", "low", "high"]
    keys = [tuple(line[:3]) for line in lines[1:]]
    assert len(keys) == len(set(keys))
    assert list(dict.fromkeys(key[:2] for key in keys)) == [("bad", "asr"), ("always", "test"), ("bad", "test"),
                                                            ("good", "test")]
    of = {key: line[3:] for key, line in zip(keys, lines[1:])}
    assert of["good", "test", "Err"] == next(line.split("\t")[1:] for line in
                                             (exp / "exp/good/decode_test/score/metrics.tsv").read_text().splitlines()
                                             if line.startswith("Err\t"))
    assert float(of["always", "test", "Err"][0]) == 25
    assert not any(line[0] == "theirs" for line in lines)  # published figures are not ours


def test_results_set_page(exp):
    assert results("--title", "Toys", "--published", "published.tsv", "--systems", "good") == 0
    test = (exp / "exp/results/test.md").read_text()
    header = cells(test, "system")
    assert header == ["system", "COMMA", "PERIOD", "overall", "macro.F1", "Err", "SER", "PER", "2-class", "sentence",
                      "SU-error"]
    ours = dict(zip(header, cells(test, "**good**")))
    assert ours["COMMA"].startswith("100.0 / 75.0 / 85.7 (")
    assert ours["Err"].startswith("6.2 (")  # 6.25 %, rounded to even
    assert dict(zip(header, cells(test, "**always**")))["COMMA"] == "– / 0.0 / 0.0 (0.0–0.0)"
    published = dict(zip(header, cells(test, "good, published [1, 2]")))
    assert (published["COMMA"], published["Err"], published["PERIOD"]) == ("– / – / 71.5", "9.2", "")
    assert dict(zip(header, cells(test, "theirs, published [1]")))["overall"] == "50.0 / 40.0 / 44.4"
    rows = [line.split("|")[1].strip() for line in test.splitlines() if line.startswith("| ")]
    assert rows == ["system", "**good**", "good, published [1, 2]", "**always**", "**bad**", "theirs, published [1]"]
    assert "\n1. A & B 2001, table 1\n2. C 2002\n" in test
    assert "77.7" not in test
    signed = (exp / "exp/good/decode_test/score/signature").read_text().strip()
    assert f"- good, always, bad: `{signed}`" in test


def test_results_findings_with_other_figures_are_left_out(exp, capsys):
    (exp / "findings.md").write_text("good has an Err of 6.25, bad 50.1 and always 25.0.\n")
    assert results("--findings", "findings.md") == 0
    assert "findings.md quotes 50.1, which no table has: it is left out" in capsys.readouterr().err
    assert "What we found" not in (exp / "exp/RESULTS.md").read_text()
    (exp / "findings.md").write_text("good has an Err of 6.25, bad 50.0 and always 25.0.\n")
    assert results("--findings", "findings.md") == 0
    assert "What we found\n\ngood has" in (exp / "exp/RESULTS.md").read_text()


def test_results_render_writes_pages_from_tables(exp):
    results("--compare", "good,bad", "--command", "./run.sh", "--title", "One")
    before = files()
    for path in ("RESULTS.md", "results/test.md"):
        (exp / "exp" / path).unlink()
    (exp / "exp/results/old.md").write_text("a set that is not there any more")
    assert results("--render", "true", "--title", "One") == 0
    assert files() == before
    assert results("--render", "true", "--title", "Two") == 0
    assert (exp / "exp/RESULTS.md").read_text().startswith("# Two\n")


def test_results_conf_file(exp):
    (exp / "results.conf").write_text('--title=Toys\n--columns=overall O\n--compare=good,bad\n--compare=good,always\n'
                                      '--main=good "not there"\n--link=other.md more of it\n')
    assert results("--config", "results.conf") == 0
    assert cells((exp / "exp/results/test.md").read_text(), "system") == ["system", "overall", "O"]
    assert "- [other.md](other.md): more of it\n" in (exp / "exp/RESULTS.md").read_text()
    assert {tuple(line.split("\t")[:2]) for line in (exp / "exp/results/tests.tsv").read_text().splitlines()[1:]} == {
        ("good", "bad"), ("good", "always")}


def test_results_tested_metrics(exp):
    assert results("--compare", "good,bad", "--tested", "SER Err") == 0
    lines = (exp / "exp/results/tests.tsv").read_text().splitlines()[1:]
    assert [line.split("\t")[3] for line in lines] == ["Err", "SER"]


def test_results_of_some_systems_keep_those_of_the_others(exp, capsys):
    """A pair with a system that was not run is left out with a message; all scores that are there stay."""
    assert results("--compare", "good,bad", "--compare", "good,later", "--systems", "good later") == 0
    assert "no set has scores of both good and later: their test is left out" in capsys.readouterr().err
    assert "| good | bad |" in (exp / "exp/results/test.md").read_text()
    assert "later" not in (exp / "exp/RESULTS.md").read_text()


@pytest.mark.parametrize(("options", "message"), [
    (["--compare", "good"], "--compare=good is not a pair"),
    (["--compare", "good,bad", "--tested", "overall"], "there is no test of 'overall'; there are "),
    (["--main", "'good"], "--main ''good': No closing quotation; put quotes around a name with blanks"),
    (["--main-columns", "Err"], "--main-columns: 'Err' names no set; write METRIC@SET"),
    (["--columns", "DASH"], "no score has a column 'DASH'; there are COMMA PERIOD overall"),
    (["--published", "none"], "none: no such file"),
    (["--published", "labels.txt"], "labels.txt:1: not a line of this table; columns, with tabs between: system set"),
    (["--findings", "none"], "none: no such file"),
])
def test_results_wrong_option_is_one_line_and_keeps_results(exp, capsys, options, message):
    results()
    before = files()
    capsys.readouterr()
    assert results(*options) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith("punc results: ")
    assert message in error
    assert files() == before


def test_results_without_scores(tmp_path, capsys):
    assert main(["results", str(tmp_path)]) == 1
    assert "no scores; punc score writes them" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
