"""The progress bar: silent where stderr is no terminal, and gone at the end where it is one."""

import io
from types import SimpleNamespace

import pytest

from punc.base import progressbar as module
from punc.base.progressbar import progressbar


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """stderr is a terminal, and each look at the clock is 3 seconds after the one before."""
    seconds, terminal = iter(range(0, 1000, 3)), Terminal()
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=terminal))
    monkeypatch.setattr(module, "monotonic", lambda: next(seconds))
    return terminal


def test_nothing_is_shown_in_a_log(capsys):
    assert list(progressbar("abc", "letters", 3)) == ["a", "b", "c"]
    assert capsys.readouterr() == ("", "")


def test_percentage_and_time_left(terminal):
    assert list(progressbar([10, 30, 60], "work", 100, size=lambda n: n)) == [10, 30, 60]
    # After 3 s a tenth is done, so 27 s are left; after 6 s 40 %, so 9 s; then all.
    assert [line.rstrip() for line in terminal.getvalue().split("\r")] == [
        "", "work: 10%, 27 s left", "work: 40%, 9 s left", "work: 100%, 0 s left", "", ""]


def test_total_unknown(terminal):
    list(progressbar(range(2), "lines"))
    assert "lines: 1, 3 s" in terminal.getvalue()


def test_cleared_after_an_error(terminal):
    bar = progressbar(range(9), "work")
    next(bar), next(bar)
    bar.close()
    assert terminal.getvalue().endswith(" \r")
