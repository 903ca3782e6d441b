"""Messages go to standard error by level; progress bars show on a terminal and nowhere else."""

import io
import logging
import sys

import pytest
import tqdm.std
from tqdm import tqdm as progress_bar

from punc.base import log
from punc.base.log import hide_progress
from punc.bin.main import main


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def become_terminal(monkeypatch):
    """A function that makes standard error a terminal, where each look at the clock is 3 seconds after the last."""
    def become() -> Terminal:
        seconds, terminal = iter(range(0, 1_000_000, 3)), Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setattr(tqdm.std, "time", lambda: float(next(seconds)))
        return terminal
    return become


@pytest.fixture
def configured():
    """The function that configures messages; afterwards they are as they were."""
    yield log.configure
    log.configure()


@pytest.mark.parametrize(("flags", "expected"), [
    ({}, "info\nwarning\n"), ({"quiet": True}, "warning\n"), ({"verbose": True}, "debug\ninfo\nwarning\n")])
def test_configure_levels(configured, capsys, flags, expected):
    configured(**flags)
    logger = logging.getLogger("punc.some.module")
    logger.debug("debug")
    logger.info("info")
    logger.warning("warning")
    assert capsys.readouterr() == ("", expected)


def test_configure_twice_writes_once(configured, capsys):
    configured()
    configured()
    logging.getLogger("punc.x").info("a %d", 1)
    assert capsys.readouterr().err == "a 1\n"


def bar(items, **options):
    return progress_bar(items, desc="work", unit="line", leave=False, delay=2, disable=hide_progress(), **options)


def test_progress_on_no_terminal_shows_nothing(capsys):
    assert list(bar("abc")) == ["a", "b", "c"]
    assert capsys.readouterr() == ("", "")


def test_progress_on_terminal_shows_percentage_and_clears(become_terminal):
    terminal = become_terminal()
    with bar(None, total=100) as shown:
        for size in (10, 30, 60):
            shown.update(size)
        assert "work:  10%|" in terminal.getvalue()
        assert "work:  40%|" in terminal.getvalue()
    assert terminal.getvalue().endswith(" \r")


def test_progress_total_unknown_shows_count(become_terminal):
    terminal = become_terminal()
    list(bar(iter(range(5))))
    assert "work: 2line [" in terminal.getvalue()


def test_progress_after_an_error_is_cleared(become_terminal):
    terminal = become_terminal()
    def work():
        for item in bar(range(9)):
            1 / (5 - item)

    with pytest.raises(ZeroDivisionError):
        work()
    assert "work:" in terminal.getvalue()
    assert terminal.getvalue().endswith(" \r")


def test_progress_quiet_shows_nothing(configured, become_terminal):
    terminal = become_terminal()
    configured(quiet=True)
    list(bar(range(9)))
    assert terminal.getvalue() == ""


def test_message_above_a_bar_has_its_own_line(become_terminal):
    terminal = become_terminal()
    with bar(None, total=10) as shown:
        shown.update(5)
        logging.getLogger("punc.x").info("a message")
        assert "\ra message\n" in terminal.getvalue()
        assert "work:  50%|" in terminal.getvalue().rpartition("a message\n")[2]


def train_and_punctuate(store, place):
    """Commands that show progress, in this process."""
    assert main(["train", "--model=t_lstm", "--embedding-dim=4", "--hidden-dim=4", "--epochs=1", "--threads=1",
                 "--train-set=train_before", "--dev-set=dev_before", str(store), str(place / "exp")]) == 0
    data = str(store.parent / "dev_before")
    assert main(["punctuate", "--nj=1", str(place / "exp"), data, str(place / "out")]) == 0
    assert main(["transcript", str(place / "exp"), data, str(place / "transcripts")]) == 0


def test_progress_of_commands_on_terminal(become_terminal, toy_store, tmp_path):
    terminal = become_terminal()
    train_and_punctuate(toy_store, tmp_path)
    shown = terminal.getvalue()
    assert "\repoch 1:  " in shown
    assert "%|" in shown
    assert shown.count("\rpunctuating: 600word [") == 2  # dev_before, by punctuate and by transcript
    assert all(not part.startswith(("epoch 1:  ", "punctuating")) for part in shown.split("\n"))


def test_progress_of_commands_on_no_terminal(capsys, toy_store, tmp_path):
    train_and_punctuate(toy_store, tmp_path)
    err = capsys.readouterr().err
    assert "\r" not in err
    assert "%|" not in err
    assert "punctuating" not in err
