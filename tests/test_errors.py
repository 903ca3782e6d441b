"""InputError is one line with file, line and remedy, also after it crossed processes; checks of arguments raise it."""

import pickle
from pathlib import Path

import pytest

from punc.base.errors import InputError, check_at_least, check_choice, check_probability, one_line


@pytest.mark.parametrize(("place", "message"), [
    ((), "wrong; fix it"),
    (("data/text",), "data/text: wrong; fix it"),
    ((Path("data/text"), 3), "data/text:3: wrong; fix it"),
])
def test_input_error_message(place, message):
    error = InputError("wrong", "fix it", *place)
    assert str(error) == message
    assert (error.what, error.remedy) == ("wrong", "fix it")


def test_input_error_message_is_one_line():
    assert "\n" not in str(InputError("a\nb", "c\nd", "e\nf"))


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
    (lambda: check_at_least(1, pool=1, widths=0), "widths=0; it is 1 or more"),
    (lambda: check_at_least(0, patience=-0.5), "patience=-0.5; it is 0 or more"),
    (lambda: check_at_least(0, rate=float("nan")), "rate=nan; it is 0 or more"),
    (lambda: check_probability(dropout=0.5, unknown=1.0), "unknown=1.0; it is at least 0 and less than 1"),
    (lambda: check_probability(dropout=-0.1), "dropout=-0.1; it is at least 0 and less than 1"),
    (lambda: check_probability(dropout=float("nan")), "dropout=nan; it is at least 0 and less than 1"),
    (lambda: check_choice({"max": 1, "mean": 2}, pool="sum"), "pool=sum; choose from max, mean"),
])
def test_checks_refuse(check, message):
    with pytest.raises(InputError) as error:
        check()
    assert str(error.value) == message


def test_checks_accept():
    check_at_least(1, pool=1, widths=7)
    check_at_least(0, rate=0.0)
    check_probability(dropout=0, unknown=0.99)
    check_choice(["max", "mean"], pool="mean", other="max")
