"""The `punc` command. This is the one place where an error becomes a line on standard error and an exit status.

All else is imported where KeyboardInterrupt is caught: whoever stops the program in its first moment gets a line, too.
"""

import os
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point, with the arguments of the process or others.

    Returns the exit status: 0; 1 after an error; 130 after Ctrl-C and 143 after SIGTERM.
    """
    closed: list[str] = []
    name = "punc"
    try:
        from punc.base import stop
        if arguments is None:
            arguments = sys.argv[1:]
            name = " ".join(["punc", *(word for word in arguments[:1] if word.replace("-", "").isalpha())])
            closed = _open_closed()
            stop.watch(name)
        from punc.base import log
        from punc.bin._subcommands import commands, dispatch
        name = " ".join(["punc", *(word for word in arguments[:1] if word in commands())])
        log.configure()
        return dispatch(arguments)
    except BrokenPipeError:  # nobody reads the output any more, as with `| head`
        _drop_output()
        return 0
    except KeyboardInterrupt as error:
        return _stopped(name, error)
    except Exception as error:
        if stopped := stop.received():  # a library has made another error of it
            return _stopped(name, stopped)
        from punc.bin._explain import explain, say
        _drop_output()
        say(f"{name}: {explain(error, name, closed)}")
        return 1


def _stopped(name: str, error: KeyboardInterrupt) -> int:
    from punc.base import stop
    error = error if isinstance(error, stop.Stopped) else stop.Stopped(2)
    _drop_output()
    stop.say(name, error)
    return error.status


def _open_closed() -> list[str]:
    """Open the standard streams that the caller has closed, or other files would get their numbers. Returns which.

    To read the input, or to write the output, is then an error; messages are lost.
    """
    closed = []
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY if name == "stdout" else os.O_WRONLY)
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115
            closed.append(name)
    return closed


def _drop_output() -> None:
    """Write what waits for standard output, if that can be; if not, Python would fail again when it ends."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
