"""Handles Ctrl-C and SIGTERM: after either, the program cleans up, prints one line, and ends within two seconds."""

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
GRACE = 1.5  # seconds from a signal to the forced end of the process; temporary files may then be left behind

_received = 0  # the number of the signal that ends the program, or 0 before a signal arrives
_held = 0  # the number of running `held` blocks, which a signal must not interrupt
# Acquired by the thread that prints the message, and never released, so that it is printed once.
_said = threading.Lock()


class Stopped(KeyboardInterrupt):
    """The exception that the first signal raises in the main thread. Its message is `interrupted` or `terminated`."""

    def __init__(self, number: int):
        super().__init__(SIGNALS[signal.Signals(number)])
        self.status = 128 + number


def watch(name: str) -> None:
    """Let the first Ctrl-C or SIGTERM raise Stopped, and ignore later ones. Signals that the process already ignores,
    for example because of nohup, stay ignored. If the process still runs GRACE seconds after a signal, a thread
    prints a line and ends the process."""
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _raise)
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    threading.Thread(target=_end_late, args=(reader, name), daemon=True).start()
    sys.unraisablehook = functools.partial(_unraisable, sys.unraisablehook)


def _unraisable(otherwise: Callable[[Any], None], unraisable: Any) -> None:
    """Raise Stopped again a moment later if Python has ignored it, for example in a weakref callback of an import."""
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
    """Let a signal that arrives during the block raise Stopped only when the block ends. Long blocks must call
    `received` to notice the signal."""
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
    """Return Stopped if a signal has arrived, even if a library has caught the exception. Otherwise, return None."""
    return Stopped(_received) if _received else None


def say(name: str, stopped: Stopped) -> None:
    """Print once that the program is ending. Under torchrun, nothing is printed after SIGTERM, because torchrun
    sends SIGTERM to all other ranks when one rank fails."""
    if stopped.status == 128 + signal.SIGTERM and os.environ.get("WORLD_SIZE", "1") != "1":
        return
    if _said.acquire(blocking=False):
        with contextlib.suppress(OSError):
            os.write(2, f"{name}: {stopped}\n".encode())


@contextlib.contextmanager
def signals_wait() -> Iterator[None]:
    """Block signals during the `with` block. Processes that start in the block also block the signals until they call
    `let_through`."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def let_through() -> None:
    """Unblock SIGTERM in a worker process, and ignore Ctrl-C, which the parent handles."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
