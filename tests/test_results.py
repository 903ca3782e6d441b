"""`punc results` collects scores, tests and costs of an experiment, keeps rows of older pages, and writes pages."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from conftest import cells
from experiment import LOG as TRAINED

from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import Utterance, write_data_dir
from punc.results.collect import collect_scores, paired_tests, read_cost, read_training
from punc.results.page_data import Cost, PageData, PairedTest, keep_rows, read_page_data, write_page_data
from punc.results.pages import Settings, render
from punc.scoring.significance import Interval

LOG = """# punc train conf/T-LSTM.conf exp/T-LSTM
train: 41 chunks, 0.1% of the steps are padding
epoch 1: rate 0.1, loss 0.81234, dev loss 0.51234, dev F1 30.12, 10,000 words/s, 12.0 s
epoch 2: rate 0.1, loss 0.41234, dev loss 0.41234, dev F1 39.12, 20,000 words/s, 6.0 s
# Ended (code 0) at Sun Nov 22 2026, elapsed time 20 seconds
"""


@pytest.fixture
def exp(tmp_path, monkeypatch):
    """Write scores of the systems `good` (on test and asr) and `bad` (on test) to exp/SYSTEM/decode_SET/score."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.txt").write_text("O w\nCOMMA w, ,\nPERIOD w. .\n", encoding="utf-8")
    outputs = {"ref": ["O", "COMMA", "O", "PERIOD"], "good": ["O", "COMMA", "O", "O"], "bad": ["O", "O", "O", "O"]}
    for name, labels in outputs.items():
        write_data_dir(name, [Utterance(f"u{i}", f"u{i}", list("abcd"), labels, None) for i in range(4)])
    for system, set in [("good", "test"), ("bad", "test"), ("good", "asr")]:
        assert main(["score", "--labels", "labels.txt", "ref", system, f"exp/{system}/decode_{set}/score"]) == 0
    return tmp_path


def test_collect_scores_other_scores_are_columns(exp):
    args = ["score", "--labels", "labels.txt", "--merge", "O=O+COMMA", "ref", "good"]
    assert main([*args, "exp/good/decode_test/score_ends"]) == 0
    good = next(s for s in collect_scores("exp") if (s.system, s.set) == ("good", "test"))
    assert {name for name in good.metrics if name.startswith("ends")} == {"ends.P", "ends.R", "ends.F1"}
    assert good.metrics["ends.F1"].value == 0  # no PERIOD is restored
    assert good.metrics["COMMA.F1"].value == 100


def test_paired_tests_on_every_common_set(exp):
    tests = paired_tests(collect_scores("exp"), [("good", "bad")], ["Err", "COMMA.F1"])
    assert [(test.set, test.metric, test.difference) for test in tests] == [
        ("test", "COMMA.F1", 100), ("test", "Err", -25)]
    assert all(test.p == round(test.p, 4) for test in tests)


def test_paired_tests_of_several_seeds_are_of_their_means(exp):
    for seed, labels in ((2, ["O", "COMMA", "O", "PERIOD"]), (3, ["O", "O", "O", "O"])):
        write_data_dir("run", [Utterance(f"u{i}", f"u{i}", list("abcd"), labels, None) for i in range(4)])
        assert main(["score", "--labels", "labels.txt", "ref", "run", f"exp/good.seed{seed}/decode_test/score"]) == 0
    scores = collect_scores("exp")
    test = paired_tests(scores, [("good", "bad")], ["Err"])[0]
    assert (test.this, test.other, test.difference) == ("good", "bad", (25 + 0 + 50) / 3 - 50)
    assert test.low < -50 < 0 < test.high  # Err of the three runs is 25, 0 and 50, so the interval is wide
    assert paired_tests(scores, [("good.seed2", "bad")], ["Err"])[0].difference == -50  # a single run


def test_paired_tests_different_slots_raises(exp):
    for name in ("ref", "bad"):
        write_data_dir(name, [Utterance(f"v{i}", f"v{i}", list("abcd"), ["O"] * 4, None) for i in range(5)])
    main(["score", "--labels", "labels.txt", "ref", "bad", "exp/bad/decode_test/score"])
    with pytest.raises(InputError, match="the units differ"):
        paired_tests(collect_scores("exp"), [("good", "bad")])


@pytest.mark.parametrize(("text", "cost"), [
    (LOG, Cost("X", 2, 18, 240_000 / 18)),
    (LOG.replace("words/s", "tokens/s"), Cost("X", 2, 18, 240_000 / 18)),
    ("dev loss 0.39811, dev F1 42.30, 95.3 s\n", Cost("X", np.nan, 95.3, np.nan)),
    (LOG.replace("epoch 1", "epoch 3"), None),  # the run was continued; the log of the first epoch is missing
    ("punc train: exp/T-LSTM/final.pt is finished\n", None),
])
def test_read_cost(tmp_path, text, cost):
    (tmp_path / "log").mkdir()
    (tmp_path / "log/train.log").write_text(text)
    found = read_cost(tmp_path)
    assert (found is None) == (cost is None)
    if cost:
        assert found[1:] == pytest.approx(cost[1:], abs=1e-3, nan_ok=True)


def epoch(number, seconds):
    return f"epoch {number}: rate 0.1, loss 0.4, dev loss 0.4, dev F1 39.12, 1,000 words/s, {seconds} s\n"


@pytest.mark.parametrize(("logs", "cost"), [
    # The run stopped after epoch 2 and continued. All epochs train at 1,000 words/s.
    ({"train.1.log": epoch(1, 10.0) + epoch(2, 10.0), "train.log": epoch(3, 20.0)}, Cost("X", 3, 40, 1000)),
    # The run stopped before it stored its last epoch, and trained it twice. Only the second time counts.
    ({"train.1.log": epoch(1, 10.0) + epoch(2, 10.0), "train.log": epoch(2, 20.0)}, Cost("X", 2, 30, 1000)),
    ({"train.1.log": epoch(1, 10.0), "train.log": epoch(1, 20.0)}, Cost("X", 1, 20, 1000)),
    # The tenth log comes after the ninth. Logs with other names do not count.
    ({"train.10.log": epoch(2, 20.0), "train.9.log": epoch(1, 10.0) + epoch(2, 50.0), "train.log": "",
      "train.old.log": epoch(3, 1.0), "decode.1.log": epoch(4, 1.0)}, Cost("X", 2, 30, 1000)),
    # A new training run follows a longer one.
    ({"train.1.log": epoch(1, 10.0) + epoch(2, 10.0) + epoch(3, 10.0), "train.log": epoch(1, 20.0)},
     Cost("X", 1, 20, 1000)),
    # A later run found a finished model.
    ({"train.1.log": LOG, "train.log": "punc train: exp/X/final.pt is finished\n"}, Cost("X", 2, 18, 240_000 / 18)),
    # A later run was killed before it wrote a log.
    ({"train.1.log": LOG}, Cost("X", 2, 18, 240_000 / 18)),
    ({"train.1.log": "dev loss 0.4, dev F1 42.30, 95.3 s\n", "train.log": "dev loss 0.4, dev F1 42.30, 9.0 s\n"},
     Cost("X", np.nan, 9, np.nan)),
])
def test_read_cost_of_a_run_that_continued(tmp_path, logs, cost):
    (tmp_path / "log").mkdir()
    for name, text in logs.items():
        (tmp_path / "log" / name).write_text(text)
    assert read_cost(tmp_path)[1:] == pytest.approx(cost[1:], abs=1e-3, nan_ok=True)


def test_read_training_kept_epoch_is_the_one_that_the_log_names(tmp_path):
    """The log names the kept epoch. If a later training run names none, its epoch with the lowest dev loss counts as
    kept."""
    (tmp_path / "log").mkdir()
    log = tmp_path / "log" / "train.log"
    log.write_text(f"{TRAINED}kept epoch 1: the highest dev F1, 53.00; epoch 2 has the lowest dev loss, 0.55000\n")
    assert [epoch.number for epoch in read_training(tmp_path) if epoch.kept] == [1]
    log.rename(log.with_name("train.1.log"))
    log.write_text(TRAINED)
    assert [epoch.number for epoch in read_training(tmp_path) if epoch.kept] == [2]


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
def toys(tmp_path, monkeypatch):
    """Write published.tsv, and the scores exp/SYSTEM/decode_SET/score of three systems (good, bad, always) on test, and
    of bad on asr."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.txt").write_text("O w\nCOMMA w, ,\nPERIOD w. .\n", encoding="utf-8")
    (tmp_path / "published.tsv").write_text(PUBLISHED, encoding="utf-8")
    reference = ["O", "COMMA", "O", "PERIOD"]
    outputs = {"ref": [reference] * 20, "good": [reference] * 15 + [["O", "O", "O", "PERIOD"]] * 5,
               "bad": [["O", "O", "COMMA", "PERIOD"]] * 20, "always": [["O", "O", "O", "PERIOD"]] * 20}
    for name, labels in outputs.items():
        write_data_dir(name, [Utterance(f"u{i:02}", f"u{i:02}", list("abcd"), of, None) for i, of in enumerate(labels)])
    for system, set in [("good", "test"), ("bad", "test"), ("always", "test"), ("bad", "asr")]:
        assert main(["score", "--labels", "labels.txt", "ref", system, f"exp/{system}/decode_{set}/score"]) == 0
        (tmp_path / "exp" / system / "conf").write_text("# punc 0, store data/store\n--model=m\n--train-set=train\n")
    return tmp_path


def results(*options):
    return main(["results", *options, "exp"])


def files():
    written = [*Path("exp").glob("RESULTS.*"), *Path("exp/results").glob("*")]
    return {str(path): path.read_bytes() for path in written}


def test_results_tsv_has_every_figure_once_in_order(toys, capsys):
    (toys / "exp/good/decode_dev").mkdir()
    assert results("--published", "published.tsv") == 0
    assert "exp/good/decode_dev has no score" in capsys.readouterr().err
    lines = [line.split("\t") for line in (toys / "exp/RESULTS.tsv").read_text().splitlines()]
    assert lines[0] == ["system", "set", "metric", "value", "low", "high"]
    keys = [tuple(line[:3]) for line in lines[1:]]
    assert len(keys) == len(set(keys))
    assert list(dict.fromkeys(key[:2] for key in keys)) == [("bad", "asr"), ("always", "test"), ("bad", "test"),
                                                            ("good", "test")]
    of = {key: line[3:] for key, line in zip(keys, lines[1:])}
    assert of["good", "test", "Err"] == next(line.split("\t")[1:] for line in
                                             (toys / "exp/good/decode_test/score/metrics.tsv").read_text().splitlines()
                                             if line.startswith("Err\t"))
    assert float(of["always", "test", "Err"][0]) == 25
    assert not any(line[0] == "theirs" for line in lines)  # published figures are not included


def test_results_set_page(toys):
    assert results("--title", "Toys", "--published", "published.tsv", "--systems", "good") == 0
    test = (toys / "exp/results/test.md").read_text()
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
    signed = (toys / "exp/good/decode_test/score/signature").read_text().strip()
    assert f"- good, always, bad: `{signed}`" in test


def test_results_findings_are_filled_in(toys, capsys):
    (toys / "findings.md").write_text("- good: {good test Err}\n- bad: {bad test Err}\n- none: {none test Err}\n")
    assert results("--findings", "findings.md", "--systems", "good none") == 0
    assert "What we found\n\n- good: 6.2\n- bad: 50.0\n\n" in (toys / "exp/RESULTS.md").read_text()
    assert capsys.readouterr().err.splitlines()[0] == (
        "punc results: findings.md:3: this finding is left out: the page has no row of none on test")


def test_results_findings_with_a_typed_figure_keep_the_page(toys, capsys):
    results()
    before = files()
    (toys / "findings.md").write_text("Err is\n50.1 here.\n")
    assert results("--findings", "findings.md") == 1
    assert "findings.md:2: 50.1: a figure was typed; refer to its cell" in capsys.readouterr().err
    (toys / "findings.md").unlink()
    assert files() == before


def test_results_render_writes_pages_from_tables(toys):
    results("--compare", "good,bad", "--command", "./run.sh", "--title", "One")
    before = files()
    for path in ("RESULTS.md", "results/test.md"):
        (toys / "exp" / path).unlink()
    (toys / "exp/results/old.md").write_text("a set that is not there any more")
    assert results("--render", "true", "--title", "One") == 0
    assert files() == before
    assert results("--render", "true", "--title", "Two") == 0
    assert (toys / "exp/RESULTS.md").read_text().startswith("# Two\n")


def test_results_conf_file(toys):
    (toys / "results.conf").write_text('--title=Toys\n--columns=overall O\n--compare=good,bad\n--compare=good,always\n'
                                      '--main=good "not there"\n--link=other.md more of it\n')
    assert results("--config", "results.conf") == 0
    assert cells((toys / "exp/results/test.md").read_text(), "system") == ["system", "overall", "O"]
    assert "- [other.md](other.md): more of it\n" in (toys / "exp/RESULTS.md").read_text()
    assert {tuple(line.split("\t")[:2]) for line in (toys / "exp/results/tests.tsv").read_text().splitlines()[1:]} == {
        ("good", "bad"), ("good", "always")}


def test_results_of_some_systems_keep_those_of_the_others(toys, capsys):
    assert results("--compare", "good,bad", "--compare", "good,later", "--systems", "good later") == 0
    assert "no set has scores of both good and later: their test is left out" in capsys.readouterr().err
    assert "| good | bad |" in (toys / "exp/results/test.md").read_text()
    assert "later" not in (toys / "exp/RESULTS.md").read_text()


@pytest.mark.parametrize(("options", "message"), [
    (["--compare", "good"], "--compare=good is not a pair"),
    (["--compare", "good,bad", "--tested", "overall"], "no metric 'overall' was tested; choose from "),
    (["--main", "'good"], "--main ''good': No closing quotation; put quotes around a name with spaces"),
    (["--main-columns", "Err"], "--main-columns: 'Err' names no set; write METRIC@SET"),
    (["--columns", "DASH"], "no score has a column 'DASH'; there are COMMA PERIOD overall"),
    (["--published", "none"], "none: no such file"),
    (["--published", "labels.txt"], "labels.txt:1: the line does not fit the table; columns, with tabs between: "
     "system set"),
    (["--findings", "none"], "none: no such file"),
])
def test_results_wrong_option_is_one_line_and_keeps_results(toys, capsys, options, message):
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
    assert "the directory has no scores; punc score writes them" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


SIGNED = "labels:O+COMMA|words:same|last-slot:true|slots:{}|marks:3|units:{}|seed:1|reference:{}|punc:0.1.0"


def page(*systems, sets=("ref",), value=50.0, units="5 streams", reference="abc", command="./run.sh"):
    """Return page data with the metric Err, and with a test of each of `systems` against the one after it."""
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
    # The tests of the older page are dropped, because each of them compared the old B.
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
    """The old page has rows of A, B and C, the new page of C and D. The test of B and C stays only if C has the same
    rows on both pages."""
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
    with pytest.raises(InputError, match=r"egs/toy: ref of A has reference:abc, new rows have (abd)?; rows of"):
        keep_rows(page("B", **other), page("A"), "egs/toy")
    # A different reference is allowed if the new rows replace the old ones, or if they are for another set.
    assert len(keep_rows(page("A", **other), page("A"), "egs/toy").metrics) == 1
    assert len(keep_rows(page("B", sets=("asr",), **other), page("A"), "egs/toy").metrics) == 2


def scored(exp, system, errors):
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
    # Pages with kept rows, too, can be rendered again from the tables.
    assert main(["results", "--render", "true", str(second)]) == 0
    assert (second / "RESULTS.md").read_text() == text
    assert main(["results", "--render", "true", "--keep", str(first), str(second)]) == 1


def test_results_names_the_kept_rows_that_leave_the_pages(tmp_path, capsys):
    write_page_data(tmp_path / "kept", page("A", "A.seed2", "B", reference="of no score here", sets=("asr",)))
    scored(tmp_path / "exp", "A", 2)
    assert main(["results", "--keep", str(tmp_path / "kept"), str(tmp_path / "exp")]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if "removed from the pages" in line]
    assert len(said) == 1
    assert said[0].startswith("punc results: A on asr, A.seed2 on asr are removed from the pages: ")


def test_results_names_the_tests_that_are_missing(tmp_path, capsys):
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


def test_render_rows_with_seeds():
    data = PageData(METRICS, dict.fromkeys(METRICS, "labels:O+COMMA"),
                    [PairedTest("A", "B", "ref", "overall.F1", 1.0, -3.0, 5.0, 0.01)])
    pages = render(data, Settings("Toys", columns=["Err"], main_columns=["overall.F1@ref"]))
    assert "| A | **63.0** ± 3.0 |\n| B | 62.0 (61.0–63.0) |\n| C.seed2 | 40.0 (39.0–41.0) |" in pages["RESULTS.md"]
    assert "± follows the mean of several seeds" in pages["RESULTS.md"]
    assert "| **A** | 9.0 ± 0.0 |" in pages["results/ref.md"]
    assert "| A | B | overall.F1 | 63.0 | 62.0 | +1.0 (-3.0 … +5.0) | 0.0100 |" in pages["results/ref.md"]
    assert "If a system has several seeds, their mean is tested" in pages["results/ref.md"]
    assert "- A, B, C: `labels:O+COMMA`" in pages["results/ref.md"]
