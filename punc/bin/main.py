"""The command `punc`. `run_program` converts all errors to a line on standard error and an exit status.

Other modules are imported inside functions that catch KeyboardInterrupt, so that an early Ctrl-C prints only one line.
"""

import contextlib
import gc
import os
import sys
from collections.abc import Callable, Sequence
from typing import TextIO


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `punc` with `arguments` or, if None, with the arguments of the process. Returns the exit status."""
    line = sys.argv[1:] if arguments is None else arguments
    words = 1 if _names_subcommand(line) else 0

    def work() -> int:
        from punc.bin._subcommands import dispatch
        return dispatch(line)

    return run_program(" ".join(["punc", *line[:words]]), line[words:], work, arguments is None)


def run_program(name: str, arguments: Sequence[str], work: Callable[[], int], is_process: bool = True) -> int:
    """Run a program by calling `work`, which returns the exit status. Flush all output.

    name        the program's name, for messages
    arguments   the program's arguments, for the log of an internal error
    is_process  whether the process runs nothing but this program; if so, signals are handled, and closed standard
                streams are reopened

    Returns the exit status of `work`, or 1 after an error, 130 after Ctrl-C, 143 after SIGTERM, and 0 if the program
    that reads the output has ended.
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
    except BrokenPipeError:  # the program that reads the output, such as `| head`, has ended
        _drop_output(sys.stdout)
        return 0
    except KeyboardInterrupt as error:
        return _stopped(name, error)
    except Exception as error:
        if stopped := stop.received():  # a library has replaced Stopped with another error
            return _stopped(name, stopped)
        _drop_output(sys.stdout)
        try:
            from punc.bin._explain import explain
            line = explain(error, [name, *arguments], closed)
        except MemoryError:  # there is too little memory even for `explain`
            line = "not enough memory; raise the limit, or use another machine"
        with contextlib.suppress(OSError):
            print(f"{name}: {line}", file=sys.stderr, flush=True)
        return 1
    finally:
        if is_process:
            _drop_output(sys.stderr)
            gc.freeze()  # saves half a second at exit: PyTorch's objects are not searched for garbage


def _names_subcommand(arguments: Sequence[str]) -> bool:
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
    """Reopen closed standard streams, so that no other file gets their file descriptors. Returns the streams' names."""
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
