"""How far work of more than some seconds is: a line that is written over, and only on a terminal."""

import sys
from collections.abc import Iterable, Iterator
from time import monotonic
from typing import TypeVar

T = TypeVar("T")
EVERY = 0.2  # seconds between two drawings
WAIT = 2.0  # seconds before the first


def progressbar(items: Iterable[T], what: str, total: float | None = None, size=lambda item: 1) -> Iterator[T]:
    """Pass items on, and show on stderr how many there were.

    what    begins the line
    total   the sum of all sizes, for a percentage and the time left; None: unknown, only the sum so far
    size    what an item counts

    Where stderr is no terminal, nothing is shown: logs have lines of their own.
    """
    if not sys.stderr.isatty():
        yield from items
        return
    begin = drawn = monotonic()
    done, width = 0, 0
    try:
        for item in items:
            yield item
            done += size(item)
            now = monotonic()
            if now - begin > WAIT and now - drawn > EVERY:
                line = _line(what, done, total, now - begin)
                sys.stderr.write("\r" + line.ljust(width))
                sys.stderr.flush()
                drawn, width = now, len(line)
    finally:
        if width:
            sys.stderr.write("\r" + " " * width + "\r")
            sys.stderr.flush()


def _line(what: str, done: float, total: float | None, seconds: float) -> str:
    if not total:
        return f"{what}: {done:,}, {seconds:.0f} s"
    left = seconds * (total - done) / done if done else 0.0
    return f"{what}: {min(done / total, 1):.0%}, {left:.0f} s left"
