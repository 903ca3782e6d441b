"""The `punc` command. `run_program` is the one place where an error becomes a line on standard error and a status.

Everything else is imported where KeyboardInterrupt is caught, so an early Ctrl-C also gives one line.
"""

import contextlib
import gc
import os
import sys
from collections.abc import Callable, Sequence
from typing import TextIO


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point, with the process's arguments or other ones. Returns the exit status, as `run_program` does."""
    line = sys.argv[1:] if arguments is None else arguments
    words = 1 if _names_subcommand(line) else 0

    def work() -> int:
        from punc.bin._subcommands import dispatch
        return dispatch(line)

    return run_program(" ".join(["punc", *line[:words]]), line[words:], work, arguments is None)


def run_program(name: str, arguments: Sequence[str], work: Callable[[], int], is_process: bool = True) -> int:
    """Call `work`, the whole program, which returns the exit status, and flush all output.

    name        the program's, for messages
    arguments   those after its name, for the log of an internal error
    is_process  the process does nothing else: watch for signals, and open closed standard streams

    Returns the exit status: that of `work`; 1 after an error; 130 after Ctrl-C and 143 after SIGTERM.
    """
    closed: list[str] = []
    try:
        from punc.base import stop
        if is_process:
            closed = _open_closed()
            stop.watch(name)
        from punc.base import log
        log.configure()
        try:
            return work()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # nobody reads the output any more, as with `| head`
        _drop_output(sys.stdout)
        return 0
    except KeyboardInterrupt as error:
        return _stopped(name, error)
    except Exception as error:
        if stopped := stop.received():  # a library has raised another error instead
            return _stopped(name, stopped)
        _drop_output(sys.stdout)
        try:
            from punc.bin._explain import explain
            line = explain(error, [name, *arguments], closed)
        except MemoryError:  # not even enough to import `explain`
            line = "not enough memory; raise the limit, or use another machine"
        with contextlib.suppress(OSError):
            print(f"{name}: {line}", file=sys.stderr, flush=True)
        return 1
    finally:
        if is_process:
            _drop_output(sys.stderr)
            gc.freeze()  # else the interpreter looks for cycles in PyTorch's objects as it ends: half a second


def _names_subcommand(arguments: Sequence[str]) -> bool:
    """Whether the first argument is a subcommand, judged by its module's file, because listing all needs an import."""
    word = arguments[0] if arguments else ""
    return word[:1].isalpha() and word.replace("-", "").isalpha() and os.path.isfile(
        os.path.join(os.path.dirname(__file__), f"{word.replace('-', '_')}.py"))


def _stopped(name: str, error: KeyboardInterrupt) -> int:
    from punc.base import stop
    error = error if isinstance(error, stop.Stopped) else stop.Stopped(2)
    _drop_output(sys.stdout)
    stop.say(name, error)
    return error.status


def _open_closed() -> list[str]:
    """Open the standard streams that the caller has closed, or other files would get their numbers. Returns which."""
    closed = []
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY if name == "stdout" else os.O_WRONLY)
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115
            closed.append(name)
    return closed


def _drop_output(stream: TextIO) -> None:
    try:
        stream.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
