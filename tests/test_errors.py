"""InputError: one line with file, line and remedy; it survives the way out of a worker process."""

import pickle
from pathlib import Path

import pytest

from punc.base.errors import InputError


@pytest.mark.parametrize(("place", "message"), [
    ((), "wrong; mend it"),
    (("data/text",), "data/text: wrong; mend it"),
    ((Path("data/text"), 3), "data/text:3: wrong; mend it"),
])
def test_message(place, message):
    error = InputError("wrong", "mend it", *place)
    assert str(error) == message
    assert (error.what, error.remedy) == ("wrong", "mend it")


def test_message_is_one_line():
    assert "\n" not in str(InputError("a\nb", "c\nd", "e\nf"))


def test_pickled():
    error = InputError("wrong", "mend it", "data/text", 3)
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.what, copy.remedy, copy.file, copy.line) == (str(error), "wrong", "mend it", "data/text", 3)
