"""Writes the messages of the logger `punc` to standard error, one line each."""

import logging
import sys
from typing import TYPE_CHECKING

from punc.base.errors import one_line

if TYPE_CHECKING:
    from tqdm import tqdm

LOGGER = logging.getLogger("punc")
LONGEST = 2500  # the maximum length of a message, in characters; enough for 127 labels with a number each


class _Stderr(logging.Handler):
    # sys.stderr is looked up for each message, because a caller may replace it.
    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = one_line(self.format(record), LONGEST)
            if module := sys.modules.get("tqdm"):  # tqdm writes the line above any progress bar
                module.tqdm.write(line, file=sys.stderr)
            else:
                sys.stderr.write(f"{line}\n")
            sys.stderr.flush()
        except Exception:
            self.handleError(record)


def configure(quiet: bool = False, verbose: bool = False) -> None:
    """Send messages to standard error. Only commands call this; other programs configure `logging` themselves."""
    if not any(isinstance(handler, _Stderr) for handler in LOGGER.handlers):
        LOGGER.addHandler(_Stderr())
    LOGGER.propagate = False
    LOGGER.setLevel(logging.WARNING if quiet else logging.DEBUG if verbose else logging.INFO)


def progress_bar(what: str, unit: str, total: int | None = None) -> "tqdm":
    """Return a progress bar. It appears after two seconds, only in a terminal, and never with --quiet."""
    from tqdm import tqdm
    hidden = LOGGER.level >= logging.WARNING or not sys.stderr.isatty()
    if hidden:
        tqdm.monitor_interval = 0  # a hidden bar needs no monitor thread
    return tqdm(desc=what, total=total, unit=unit, unit_scale=True, leave=False, delay=2, disable=hidden)
