"""Times as files write them: `01:02:03,500`, `62.5`, `3000` milliseconds, `00:00:01:12` with frames."""

import math
import re

from punc.data.datadir import LATEST

FRAMES = 25  # a second, where a file does not say it
CLOCK = re.compile(r"\s*(-)?(?:(\d{1,6}):)?(\d{1,6}):(\d{1,2})(?:([.,:;])\s?(\d{1,9}))?\s*")


def seconds(clock: str) -> float:
    """A clock in seconds: [hours:]minutes:seconds, with a fraction, or frames after a third colon."""
    found = CLOCK.fullmatch(clock)
    if not found:
        return number(clock)
    sign, hours, minutes, whole, mark, rest = found.groups()
    time = 3600.0 * int(hours or 0) + 60 * int(minutes) + int(whole)
    if rest:
        time += int(rest) / FRAMES if mark in (":", ";") else float(f"0.{rest}")
    time = -time if sign else time
    return time if abs(time) < LATEST else math.nan


def number(text: str, unit: float = 1) -> float:
    """A number of units in seconds; NaN if it is none that a time can be."""
    try:
        time = float(text.replace("_", "x").replace(",", ".")) / unit
    except ValueError:
        return math.nan
    return time if abs(time) < LATEST else math.nan
