"""Paths into the values of JSON, and what stands there: times and names of speakers.

A path is names of members with dots between. `[]` is every element of a list, a number one element, `a|b` the first of
two members that is there, `*words` every member whose name ends so, and `.` alone the value itself:
`results.channels[].alternatives.0`.
"""

import math
import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Any

from punc.data.datadir import LATEST
from punc.transcripts import clock
from punc.transcripts.transcript import split

PERIOD = re.compile(r"PT(?:(\d{1,4})H)?(?:(\d{1,6})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?")  # of ISO 8601
UNREADABLE = re.compile("[\0\ud800-\udfff]")  # NUL and half surrogates, which no other file can have
NAMES = ("name", "label", "id")  # members of a speaker that is an object
Spot = tuple[Any, Any]  # an object or a list, and a key of it


@cache
def steps(path: str) -> tuple[str, ...]:
    return tuple(step for step in path.replace("[]", ".[]").split(".") if step)


def keys(value: Any, step: str) -> Iterator[Any]:
    """The keys of an object or a list that a step of a path names."""
    if isinstance(value, list):
        if step == "[]":
            yield from range(len(value))
        elif step.isdecimal() and int(step) < len(value):
            yield int(step)
    elif isinstance(value, dict):
        if step.startswith("*"):
            yield from (key for key in value if key.endswith(step[1:]))
        else:
            yield from [name for name in step.split("|") if name in value][:1]


def places(value: Any, path: str) -> list[Spot]:
    """The holders and keys of all values of a path."""
    *before, last = steps(path)
    holders = [value]
    for step in before:
        holders = [holder[key] for holder in holders for key in keys(holder, step)]
    return [(holder, key) for holder in holders for key in keys(holder, last)]


def values(value: Any, paths: str) -> list[Any]:
    """All values of the first path that has some, of paths with blanks between; the value itself for none and `.`."""
    for path in paths.split():
        found = [holder[key] for holder, key in places(value, path)] if path != "." else [value]
        if found:
            return found
    return [] if paths else [value]


@cache
def getter(path: str) -> Callable[[Any], Any]:
    """A function that finds the first value of a path that is not null; None if there is none."""
    names = path.split("|") if path else []

    def find(value: Any) -> Any:
        if isinstance(value, dict):
            for name in names:
                if (found := value.get(name)) is not None:
                    return found
        return None

    def find_inside(value: Any) -> Any:
        found = (holder[key] for holder, key in places(value, path))
        return next((one for one in found if one is not None), None)

    return find if not path or path.replace("|", "").isidentifier() else find_inside


def seconds(value: Any, unit: float = 1) -> float:
    """A time in seconds; NaN if it is none: a number, with `unit` a second, `1.3s`, `00:01:02.5`, `PT1.5S`, nanos."""
    if type(value) in (int, float):  # not bool
        return value / unit if -LATEST * unit < value < LATEST * unit else math.nan
    if isinstance(value, str) and len(value) < 30:
        return _seconds_of_text(value.strip(), unit)
    if isinstance(value, dict) and ("seconds" in value or "nanos" in value):
        return seconds(value.get("seconds", 0)) + seconds(value.get("nanos", 0)) / 1e9
    if isinstance(value, dict) and "relative" in value:  # beside an absolute one
        return seconds(value["relative"], unit)
    return math.nan


def _seconds_of_text(text: str, unit: float) -> float:
    if parts := PERIOD.fullmatch(text):
        hours, minutes, rest = parts.groups("0")
        return 3600 * int(hours) + 60 * int(minutes) + float(rest)
    if ":" in text:
        return clock.seconds(text)
    return clock.number(text.removesuffix("s"), 1 if text.endswith("s") else unit)


def speaker_name(value: Any) -> str:
    """The name of a speaker: a text, a number, or an object with a name; empty if it is not known."""
    if isinstance(value, dict):
        value = next((value[name] for name in NAMES if name in value), None)
    return _speaker_name(value) if isinstance(value, (str, int, float)) else ""


@lru_cache(10_000)
def _speaker_name(value: str | int | float) -> str:
    return " ".join(split(UNREADABLE.sub("\ufffd", str(value))))
