"""Messages of the program: `logging` under the logger `punc`, to standard error, a line each."""

import logging
import sys

LOGGER = logging.getLogger("punc")


class _Stderr(logging.StreamHandler):
    """Writes to what is standard error when a message comes, which a caller may have replaced since."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self):
        return sys.stderr


def configure(quiet: bool = False, verbose: bool = False) -> None:
    """Send messages to standard error: warnings only with `quiet`, debugging messages too with `verbose`.

    Called by the command line and by worker processes. A program that imports punc configures `logging` itself.
    """
    if not any(isinstance(handler, _Stderr) for handler in LOGGER.handlers):
        LOGGER.addHandler(_Stderr())
    LOGGER.propagate = False
    LOGGER.setLevel(logging.WARNING if quiet else logging.DEBUG if verbose else logging.INFO)
