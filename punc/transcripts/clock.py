"""Converts times to seconds: `01:02:03,500`, `62.5`, `3000` milliseconds, `00:00:01:12` with frames."""

import math
import re
from collections.abc import Callable

from punc.base.errors import InputError
from punc.data.datadir import LATEST

FRAMES = 25.0  # per second; assumed if a file does not state the rate
CLOCK = re.compile(r"\s*(-)?(?:(\d{1,6}):)?(\d{1,6}):(\d{1,2})(?:([.,:;])\s?(\d{1,9}))?\s*")


def seconds(clock: str, frames: float = FRAMES) -> float:
    """Convert a time to seconds; NaN if invalid. The time is a number of seconds, or `[hours:]minutes:seconds` with or
    without a fraction or frames. `frames`: how many there are in a second."""
    found = CLOCK.fullmatch(clock)
    if not found:
        return number(clock)
    sign, hours, minutes, whole, mark, rest = found.groups()
    time = 3600.0 * int(hours or 0) + 60 * int(minutes) + int(whole)
    if rest:
        time += int(rest) / frames if mark in (":", ";") else float(f"0.{rest}")
    time = -time if sign else time
    return time if abs(time) < LATEST else math.nan


def number(text: str, unit: float = 1) -> float:
    """Convert a number of time units, `unit` per second, to seconds; NaN if the text cannot be a time."""
    try:
        time = float(text.replace("_", "x").replace(",", ".")) / unit
    except ValueError:
        return math.nan
    return time if abs(time) < LATEST else math.nan


def checked_number(text: str, what: str, error: Callable[[str, str], InputError]) -> float:
    """Convert a string to a finite number. Raises `error(what is wrong, remedy)` if the string is not one."""
    try:
        number = math.nan if "_" in text else float(text)  # float() would read 1_000, unlike other programs
    except ValueError:
        number = math.nan
    if not -math.inf < number < math.inf:
        raise error(f"the {what} '{text[:20]}' is not a number", "write a number, such as 1.25")
    return number


def checked_seconds(text: str, what: str, error: Callable[[str, str], InputError]) -> float:
    """Convert a text to a time. Raises `error` if the time is not a number, is negative, or is LATEST or later."""
    time = checked_number(text, what, error)
    if time >= LATEST:
        raise error(f"the {what} {text[:20]} is not a time of a recording", "write seconds")
    if time < 0:
        raise error(f"the {what} {text[:20]} is negative", "count from the start of the recording")
    return time
