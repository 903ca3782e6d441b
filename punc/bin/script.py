"""Runs scripts of recipes. The signature of `main` defines a script's command line. An error is printed as one line.

    def main(corpus: Path, out: Path) -> None: ...

    if __name__ == "__main__":
        run_script(main, __doc__)
"""

import inspect
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

from punc.bin.main import run_program

HELP = (["-h"], ["--help"])


def _print_error(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print an error as Python does, except that Ctrl-C during the script's imports prints only one line."""
    if issubclass(kind, KeyboardInterrupt):
        print(f"{sys.argv[0]}: interrupted", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


# Set here, not in `run_script`, so that Ctrl-C during the script's imports prints only one line.
sys.excepthook = _print_error


def run_script(main: Callable[..., None], usage: str, name: str = "") -> NoReturn:
    """Call `main` with the arguments of the process, converted by `bind`, and end the process.

    main    the script's work; it may raise InputError
    usage   the script's docstring, which is printed for --help and, with exit status 1, if the arguments do not fit
    name    the script's name in messages; empty: the name by which it was called

    If the arguments fit, the exit status is that of `punc.bin.main.run_program`.
    """
    arguments = sys.argv[1:]

    def work() -> int:
        bound = bind(main, arguments)
        if bound is None:
            print(usage, file=sys.stdout if arguments in HELP else sys.stderr)
            return int(arguments not in HELP)
        main(*bound)
        return 0

    sys.exit(run_program(name or sys.argv[0], arguments, work))


def bind(main: Callable, arguments: Sequence[str]) -> list[Any] | None:
    """Convert a command line to arguments of `main`. Returns None if it does not fit, or asks for help.

    Each parameter of type str, Path or int takes one argument, which is optional if the parameter has a default. A
    parameter `*names: str` takes one or more arguments. A single parameter of type Sequence[str] takes all arguments.
    """
    parameters = list(inspect.signature(main, eval_str=True).parameters.values())
    if [parameter.annotation for parameter in parameters] == [Sequence[str]]:
        return [arguments]
    if parameters[-1].kind is inspect.Parameter.VAR_POSITIONAL:
        parameters += parameters[-1:] * (len(arguments) - len(parameters))
    kinds = [parameter.annotation for parameter in parameters]
    assert {*kinds} <= {str, Path, int}, f"{main} has other types"
    least = sum(parameter.default is parameter.empty for parameter in parameters)
    if arguments in HELP or not least <= len(arguments) <= len(kinds) or not all(
            kind is not int or argument.isdecimal() for kind, argument in zip(kinds, arguments)):
        return None
    return [kind(argument) for kind, argument in zip(kinds, arguments)]
