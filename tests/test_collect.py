"""Scores, paired tests, training curves and costs collected from an experiment."""

import numpy as np
import pytest
from experiment import LOG as TRAINED

from punc.base.errors import InputError
from punc.bin.main import main
from punc.data.datadir import Utterance
from punc.data.datadir_writer import write_data_dir
from punc.results.collect import collect_costs, collect_scores, paired_tests, read_cost, read_training
from punc.results.page_data import Cost

LOG = """# punc train conf/T-LSTM.conf exp/T-LSTM
train: 41 chunks, 0.1% of the steps are padding
epoch 1: rate 0.1, loss 0.81234, dev loss 0.51234, dev F1 30.12, 10,000 words/s, 12.0 s
epoch 2: rate 0.1, loss 0.41234, dev loss 0.41234, dev F1 39.12, 20,000 words/s, 6.0 s
# Ended (code 0) at Sun Nov 22 2026, elapsed time 20 seconds
"""


@pytest.fixture
def exp(tmp_path, monkeypatch):
    """exp/{good,bad}/decode_{test,asr}/score, `bad` only on test."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.txt").write_text("O w\nCOMMA w, ,\nPERIOD w. .\n", encoding="utf-8")
    outputs = {"ref": ["O", "COMMA", "O", "PERIOD"], "good": ["O", "COMMA", "O", "O"], "bad": ["O", "O", "O", "O"]}
    for name, labels in outputs.items():
        write_data_dir(name, [Utterance(f"u{i}", f"u{i}", list("abcd"), labels, None) for i in range(4)])
    for system, set in [("good", "test"), ("bad", "test"), ("good", "asr")]:
        assert main(["score", "--labels", "labels.txt", "--replicates", "10", "ref", system,
                     f"exp/{system}/decode_{set}/score"]) == 0
    return tmp_path


def test_collect_scores_order(exp):
    found = collect_scores("exp")
    assert [(score.set, score.system) for score in found] == [("asr", "good"), ("test", "bad"), ("test", "good")]
    found = collect_scores("exp", ["good"], ["test"])
    assert [(score.set, score.system) for score in found] == [("test", "good"), ("test", "bad"), ("asr", "good")]
    assert found[0].metrics["Err"].value == 25
    assert found[0].signature.startswith("labels:O+COMMA+PERIOD|")


def test_collect_scores_none_raises(tmp_path):
    with pytest.raises(InputError, match="no scores; punc score writes them"):
        collect_scores(tmp_path)


def test_collect_scores_other_scores_are_columns(exp):
    args = ["score", "--labels", "labels.txt", "--replicates", "10", "--merge", "O=O+COMMA", "ref", "good"]
    assert main([*args, "exp/good/decode_test/score_ends"]) == 0
    good = next(s for s in collect_scores("exp") if (s.system, s.set) == ("good", "test"))
    assert {name for name in good.metrics if name.startswith("ends")} == {"ends.P", "ends.R", "ends.F1"}
    assert good.metrics["ends.F1"].value == 0  # no PERIOD is found
    assert good.metrics["COMMA.F1"].value == 100


def test_paired_tests_on_every_common_set(exp):
    tests = paired_tests(collect_scores("exp"), [("good", "bad")], ["Err", "COMMA.F1"])
    assert [(test.set, test.metric, test.difference) for test in tests] == [
        ("test", "COMMA.F1", 100), ("test", "Err", -25)]
    assert all(test.p == round(test.p, 4) for test in tests)


def test_paired_tests_of_several_seeds_are_of_their_means(exp):
    for seed, labels in ((2, ["O", "COMMA", "O", "PERIOD"]), (3, ["O", "O", "O", "O"])):
        write_data_dir("run", [Utterance(f"u{i}", f"u{i}", list("abcd"), labels, None) for i in range(4)])
        assert main(["score", "--labels", "labels.txt", "--replicates", "10", "ref", "run",
                     f"exp/good.seed{seed}/decode_test/score"]) == 0
    scores = collect_scores("exp")
    test = paired_tests(scores, [("good", "bad")], ["Err"])[0]
    assert (test.this, test.other, test.difference) == ("good", "bad", (25 + 0 + 50) / 3 - 50)
    assert test.low < -50 < 0 < test.high  # three trainings from 0 to 50 say little
    assert paired_tests(scores, [("good.seed2", "bad")], ["Err"])[0].difference == -50  # one run by its name


def test_paired_tests_different_slots_raises(exp):
    for name in ("ref", "bad"):
        write_data_dir(name, [Utterance(f"v{i}", f"v{i}", list("abcd"), ["O"] * 4, None) for i in range(5)])
    main(["score", "--labels", "labels.txt", "ref", "bad", "exp/bad/decode_test/score"])
    with pytest.raises(InputError, match="other units"):
        paired_tests(collect_scores("exp"), [("good", "bad")])


@pytest.mark.parametrize(("text", "cost"), [
    (LOG, Cost("X", 2, 18, 240_000 / 18)),
    (LOG.replace("words/s", "tokens/s"), Cost("X", 2, 18, 240_000 / 18)),
    ("dev loss 0.39811, dev F1 42.30, 95.3 s\n", Cost("X", np.nan, 95.3, np.nan)),
    (LOG.replace("epoch 1", "epoch 3"), None),  # continued: the log of the first epoch is gone
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
    # A run that was stopped after epoch 2 and went on: the rate is the same in all.
    ({"train.1.log": epoch(1, 10.0) + epoch(2, 10.0), "train.log": epoch(3, 20.0)}, Cost("X", 3, 40, 1000)),
    # It was stopped before epoch 2 was on disk: epoch 2 was trained twice, and counts once, as it was trained at last.
    ({"train.1.log": epoch(1, 10.0) + epoch(2, 10.0), "train.log": epoch(2, 20.0)}, Cost("X", 2, 30, 1000)),
    ({"train.1.log": epoch(1, 10.0), "train.log": epoch(1, 20.0)}, Cost("X", 1, 20, 1000)),
    # The tenth part comes after the ninth; other logs are of other jobs.
    ({"train.10.log": epoch(2, 20.0), "train.9.log": epoch(1, 10.0) + epoch(2, 50.0), "train.log": "",
      "train.old.log": epoch(3, 1.0), "decode.1.log": epoch(4, 1.0)}, Cost("X", 2, 30, 1000)),
    # A new training after an earlier, longer one.
    ({"train.1.log": epoch(1, 10.0) + epoch(2, 10.0) + epoch(3, 10.0), "train.log": epoch(1, 20.0)},
     Cost("X", 1, 20, 1000)),
    # A later run found the model finished.
    ({"train.1.log": LOG, "train.log": "punc train: exp/X/final.pt is finished\n"}, Cost("X", 2, 18, 240_000 / 18)),
    # A later run was killed before its log began.
    ({"train.1.log": LOG}, Cost("X", 2, 18, 240_000 / 18)),
    ({"train.1.log": "dev loss 0.4, dev F1 42.30, 95.3 s\n", "train.log": "dev loss 0.4, dev F1 42.30, 9.0 s\n"},
     Cost("X", np.nan, 9, np.nan)),
])
def test_read_cost_of_a_run_that_went_on(tmp_path, logs, cost):
    (tmp_path / "log").mkdir()
    for name, text in logs.items():
        (tmp_path / "log" / name).write_text(text)
    assert read_cost(tmp_path)[1:] == pytest.approx(cost[1:], abs=1e-3, nan_ok=True)


def test_collect_costs_of_systems_with_a_log(tmp_path):
    (tmp_path / "X/log").mkdir(parents=True)
    (tmp_path / "X/log/train.log").write_text(LOG)
    assert list(collect_costs(tmp_path, ["X", "X+case"])) == ["X"]


def test_read_training(tmp_path):
    assert read_training(tmp_path) == []
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "train.log").write_text(TRAINED)
    first, second = read_training(tmp_path)
    assert (*first[:5], first.kept) == (1, 0.1, 0.5, 0.6, 50, False)
    assert (*second[:5], second.kept) == (2, 0.05, 0.4, 0.55, 52.5, True)


def test_read_training_kept_epoch_is_the_one_that_the_log_names(tmp_path):
    """A log without that line: the lowest dev loss. A run that goes on after it has another one."""
    (tmp_path / "log").mkdir()
    log = tmp_path / "log" / "train.log"
    log.write_text(f"{TRAINED}kept epoch 1: the highest dev F1, 53.00; epoch 2 has the lowest dev loss, 0.55000\n")
    assert [epoch.number for epoch in read_training(tmp_path) if epoch.kept] == [1]
    log.rename(log.with_name("train.1.log"))
    log.write_text(TRAINED)
    assert [epoch.number for epoch in read_training(tmp_path) if epoch.kept] == [2]
