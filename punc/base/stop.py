"""Handles Ctrl-C and SIGTERM: the program cleans up, prints one line, and ends within two seconds."""

import contextlib
import functools
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

SIGNALS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
GRACE = 1.5  # s to clean up; the next command that writes to the same place removes any leftovers

_received = 0  # the number of the signal that ends the program; 0: none so far
_held = 0  # the number of `held` blocks that are running; a signal must not interrupt them
_said = threading.Lock()  # held by the thread that prints the message


class Stopped(KeyboardInterrupt):
    """Raised in the main thread by the first signal. `str()` says which signal it was."""

    def __init__(self, number: int):
        super().__init__(SIGNALS[signal.Signals(number)])
        self.status = 128 + number


def watch(name: str) -> None:
    """From now on, the first Ctrl-C or SIGTERM raises Stopped. Later signals do nothing. A signal that is ignored, as
    with nohup, stays ignored. If the process still runs after GRACE seconds, a thread prints a line and ends it."""
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _raise)
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    threading.Thread(target=_end_late, args=(reader, name), daemon=True).start()
    sys.unraisablehook = functools.partial(_unraisable, sys.unraisablehook)


def _unraisable(otherwise: Callable[[Any], None], unraisable: Any) -> None:
    """Raise Stopped again soon if it was raised where Python swallows exceptions, such as in an import's callback."""
    global _received
    if isinstance(unraisable.exc_value, Stopped):
        number, _received = _received, 0
        threading.Timer(0.01, signal.raise_signal, [number]).start()
    else:
        otherwise(unraisable)


def _raise(number: int, frame: FrameType | None) -> None:
    global _received
    if not _received:
        _received = number
        if not _held:
            raise Stopped(number)


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Delay signals: a signal during the block raises Stopped at its end. A long block must check `received` itself."""
    global _held
    before = _received
    _held += 1
    try:
        yield
    finally:
        _held -= 1
    if _received and not before and not _held:
        raise Stopped(_received)


def _end_late(reader: int, name: str) -> None:
    while (number := os.read(reader, 1)[0]) not in SIGNALS:
        pass
    time.sleep(GRACE)
    say(name, Stopped(number))
    os._exit(Stopped(number).status)


def received() -> Stopped | None:
    """Returns Stopped if a signal has arrived, even if a library has replaced the exception. Returns None otherwise."""
    return Stopped(_received) if _received else None


def say(name: str, stopped: Stopped) -> None:
    """Print, only once, that the program is ending. Prints nothing if torchrun ends this rank because another rank has
    failed: the failed rank has already printed its error."""
    if stopped.status == 128 + signal.SIGTERM and os.environ.get("WORLD_SIZE", "1") != "1":
        return
    if _said.acquire(blocking=False):
        with contextlib.suppress(OSError):
            os.write(2, f"{name}: {stopped}\n".encode())


@contextlib.contextmanager
def signals_wait() -> Iterator[None]:
    """Block signals during the `with` block. Processes started in it block signals until they call `let_through`."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def let_through() -> None:
    """In a worker process: leave Ctrl-C to the parent, and let SIGTERM through."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
