"""Runs scripts of recipes. The signature of `main` defines the command line; errors and signals are handled as in punc.

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
    """Prints errors like Python, but prints only one line for Ctrl-C while the script is still importing."""
    if issubclass(kind, KeyboardInterrupt):
        print(f"{sys.argv[0]}: interrupted", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


sys.excepthook = _print_error  # set here, because `run_script` is called only after all imports


def run_script(main: Callable[..., None], usage: str, name: str = "") -> NoReturn:
    """Call `main` with the arguments of the process, converted by `bind`, and end the process.

    main    does all the work; it may raise InputError
    usage   the script's docstring; if the arguments do not fit, it is printed and the exit status is 1
    name    the script's name in messages; empty: the name by which it was called

    In all other cases, the exit status is that of `punc.bin.main.run_program`.
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
    """Converts a command line to arguments of `main`. Returns None if it does not fit, or asks for help. Each parameter
    takes one argument and is a str, a Path, or an int. Parameters with a default may be left out. `*names: str` takes
    all remaining arguments, at least one. If the only parameter is a Sequence[str], it takes all arguments."""
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
