"""InputError, the exception for everything that a user can fix, and functions that check arguments."""

import os
import re
from collections.abc import Iterable

StrPath = str | os.PathLike[str]  # the name of a file or directory
LONGEST = 1000  # the maximum length of a message, in characters
# Characters that could disturb a terminal: control characters, line separators, and directional marks.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def one_line(text: str, longest: int = LONGEST) -> str:
    """Return a text as one line for a terminal. Escapes control characters, and cuts the middle out of a text of more
    than `longest` characters."""
    text = CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text.replace("\n", " "))
    return text if len(text) <= longest else f"{text[:longest * 2 // 3 - 3]} … {text[-(longest // 3):]}"


class InputError(Exception):
    """The error for wrong input or options, which the user can fix.

    `str()` is one line of at most LONGEST characters, `FILE:LINE: what is wrong; what to do`. Commands print this line
    after the program's name, without a traceback.

    what, remedy   what is wrong, and what the user can do
    file, line     the file that contains the error, and the number of the line, from 1; either may be None
    """

    def __init__(self, what: str, remedy: str, file: StrPath | None = None, line: int | None = None):
        place = "" if file is None else f"{os.fspath(file)}: " if line is None else f"{os.fspath(file)}:{line}: "
        super().__init__(one_line(f"{place}{what}; {remedy}"))
        self.what, self.remedy, self.file, self.line = what, remedy, file, line

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        # Worker processes pickle their errors for the parent. By default, unpickling would call `__init__` with the
        # message alone, and would fail.
        return InputError, (self.what, self.remedy, self.file, self.line)


def check_at_least(least: float, **values: float) -> None:
    """Raise InputError (`widths=0 is out of range; …`) for the first value that is NaN or below `least`."""
    for name, value in values.items():
        if not value >= least:
            raise InputError(f"{name}={value} is out of range", f"give {least} or more")


def check_probability(**values: float) -> None:
    """Raise InputError (`dropout=1.0 is out of range; …`) for the first value that is not in [0, 1)."""
    for name, value in values.items():
        if not 0 <= value < 1:
            raise InputError(f"{name}={value} is out of range", "give at least 0 and less than 1")


def check_choice(choices: Iterable[str], **values: str) -> None:
    """Raise InputError (`pool=sum does not exist; …`) for the first value that is not in `choices`."""
    choices = tuple(choices)
    for name, value in values.items():
        if value not in choices:
            raise InputError(f"{name}={value} does not exist", f"choose from {', '.join(choices)}")
