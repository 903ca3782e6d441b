"""Messages of the program: `logging` under the logger `punc`, to standard error, one line each."""

import logging
import sys
from typing import TYPE_CHECKING

from punc.base.errors import one_line

if TYPE_CHECKING:
    from tqdm import tqdm

LOGGER = logging.getLogger("punc")
LONGEST = 2500  # characters of a message, which may have a number for each of 127 labels


class _Stderr(logging.Handler):
    """Writes each message to the current standard error, because a caller may replace it."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = one_line(self.format(record), LONGEST)
            if module := sys.modules.get("tqdm"):  # slow to import; without it there is no bar to write above
                module.tqdm.write(line, file=sys.stderr)
            else:
                sys.stderr.write(f"{line}\n")
            sys.stderr.flush()
        except Exception:
            self.handleError(record)


def configure(quiet: bool = False, verbose: bool = False) -> None:
    """Send messages to standard error. A program that imports punc configures `logging` itself."""
    if not any(isinstance(handler, _Stderr) for handler in LOGGER.handlers):
        LOGGER.addHandler(_Stderr())
    LOGGER.propagate = False
    LOGGER.setLevel(logging.WARNING if quiet else logging.DEBUG if verbose else logging.INFO)


def progress_bar(what: str, unit: str, total: int | None = None) -> "tqdm":
    """A progress bar, in a terminal, for work over two seconds, unless messages are quiet."""
    from tqdm import tqdm
    hidden = LOGGER.level >= logging.WARNING or not sys.stderr.isatty()
    if hidden:
        tqdm.monitor_interval = 0  # no thread to watch a bar that nobody sees
    return tqdm(desc=what, total=total, unit=unit, unit_scale=True, leave=False, delay=2, disable=hidden)
