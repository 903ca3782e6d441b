"""An error is printed as one line, even if another process raised it. Messages and progress bars go to standard
error."""

import io
import logging
import pickle
import sys
from pathlib import Path

import pytest
import tqdm.std

from punc.base import log
from punc.base.errors import InputError, check_at_least, check_choice, check_probability, one_line
from punc.base.log import progress_bar
from punc.bin.main import main


@pytest.mark.parametrize(("place", "message"), [
    ((), "wrong; fix it"),
    (("data/text",), "data/text: wrong; fix it"),
    ((Path("data/text"), 3), "data/text:3: wrong; fix it"),
])
def test_input_error_message(place, message):
    error = InputError("wrong", "fix it", *place)
    assert str(error) == message
    assert (error.what, error.remedy) == ("wrong", "fix it")


def test_input_error_message_has_no_control_characters():
    assert str(InputError("a\x1b[31m\tb\x9b\u202e", "c\0d", "e\rf", 1)) == r"e\rf:1: a\x1b[31m\tb\x9b\u202e; c\x00d"
    assert str(InputError("ä 漢 \u0301 \u200d", "ö")) == "ä 漢 \u0301 \u200d; ö"


@pytest.mark.parametrize("place", [0, 1, 2])
def test_input_error_message_is_bounded(place):
    parts = ["wrong", "fix it", "file"]
    parts[place] += "x" * 5000
    error = InputError(*parts, 7)
    assert len(str(error)) <= 1000
    assert str(error).startswith("file")
    if place != 1:
        assert str(error).endswith("; fix it")
    assert error.what == parts[0]
    assert one_line("y" * 1000) == "y" * 1000
    assert len(one_line("y" * 1001)) <= 1000


def test_input_error_pickled():
    error = InputError("wrong", "fix it", "data/text", 3)
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.what, copy.remedy, copy.file, copy.line) == (str(error), "wrong", "fix it", "data/text", 3)


@pytest.mark.parametrize(("check", "message"), [
    (lambda: check_at_least(1, pool=1, widths=0), "widths=0 is out of range; give 1 or more"),
    (lambda: check_at_least(0, patience=-0.5), "patience=-0.5 is out of range; give 0 or more"),
    (lambda: check_at_least(0, rate=float("nan")), "rate=nan is out of range; give 0 or more"),
    (lambda: check_probability(dropout=0.5, unknown=1.0), "unknown=1.0 is out of range; give at least 0 and "
     "less than 1"),
    (lambda: check_probability(dropout=-0.1), "dropout=-0.1 is out of range; give at least 0 and less than 1"),
    (lambda: check_probability(dropout=float("nan")), "dropout=nan is out of range; give at least 0 and less than 1"),
    (lambda: check_choice({"max": 1, "mean": 2}, pool="sum"), "pool=sum does not exist; choose from max, mean"),
])
def test_checks_refuse(check, message):
    with pytest.raises(InputError) as error:
        check()
    assert str(error.value) == message


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def become_terminal(monkeypatch):
    """Return a function that makes standard error a terminal. The progress bar's clock advances by 3 s each time it is
    read."""
    def become() -> Terminal:
        seconds, terminal = iter(range(0, 1_000_000, 3)), Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setattr(tqdm.std, "time", lambda: float(next(seconds)))
        return terminal
    return become


@pytest.fixture
def configured():
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


def bar(total):
    return progress_bar("work", "line", total)


def test_progress_on_no_terminal_shows_nothing(capsys):
    with bar(3) as shown:
        shown.update(3)
    assert capsys.readouterr() == ("", "")


def test_progress_on_terminal_shows_percentage_and_clears(become_terminal):
    terminal = become_terminal()
    with bar(100) as shown:
        for size in (10, 30, 60):
            shown.update(size)
        assert "work:  10%|" in terminal.getvalue()
        assert "work:  40%|" in terminal.getvalue()
    assert terminal.getvalue().endswith(" \r")


def test_progress_quiet_shows_nothing(configured, become_terminal):
    terminal = become_terminal()
    configured(quiet=True)
    with bar(9) as shown:
        shown.update(9)
    assert terminal.getvalue() == ""


def test_message_above_a_bar_has_its_own_line(become_terminal):
    terminal = become_terminal()
    with bar(10) as shown:
        shown.update(5)
        logging.getLogger("punc.x").info("a message")
        assert "\ra message\n" in terminal.getvalue()
        assert "work:  50%|" in terminal.getvalue().rpartition("a message\n")[2]


def train_and_punctuate(store, place):
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
    assert shown.count("\rpunctuating: 600word [") == 2  # once by punctuate, once by transcript
    assert all(not part.startswith(("epoch 1:  ", "punctuating")) for part in shown.split("\n"))


def test_progress_of_commands_on_no_terminal(capsys, toy_store, tmp_path):
    train_and_punctuate(toy_store, tmp_path)
    err = capsys.readouterr().err
    assert "\r" not in err
    assert "%|" not in err
    assert "punctuating" not in err
