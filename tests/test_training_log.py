"""Training curves from logs."""

from experiment import LOG

from punc.results.training_log import Epoch, read_training


def test_read_training(tmp_path):
    assert read_training(tmp_path) == []
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "train.log").write_text(LOG)
    assert read_training(tmp_path) == [Epoch(1, 0.1, 0.5, 0.6, 50), Epoch(2, 0.05, 0.4, 0.55, 52.5, kept=True)]


def test_read_training_run_that_was_stopped(tmp_path):
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "train.1.log").write_text(LOG)
    again = LOG.splitlines()[2].replace("0.55", "0.53")
    (tmp_path / "log" / "train.log").write_text(f"{again}\nnot an epoch 3: rate\n")
    assert [epoch.dev_loss for epoch in read_training(tmp_path)] == [0.6, 0.53]


def test_read_training_kept_epoch_is_the_one_that_the_log_names(tmp_path):
    """A log without that line: the lowest dev loss. A run that goes on after it has another one."""
    (tmp_path / "log").mkdir()
    log = tmp_path / "log" / "train.log"
    log.write_text(f"{LOG}kept epoch 1: the highest dev F1, 53.00; epoch 2 has the lowest dev loss, 0.55000\n")
    assert [epoch.number for epoch in read_training(tmp_path) if epoch.kept] == [1]
    log.rename(log.with_name("train.1.log"))
    log.write_text(LOG)
    assert [epoch.number for epoch in read_training(tmp_path) if epoch.kept] == [2]
