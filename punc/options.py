"""Options of the subcommands: `--kebab-case`, conf files, and errors of one line."""

import argparse
import difflib
import inspect
import os
import types
import typing
from collections.abc import Callable, Sequence

from punc.errors import InputError
from punc.files import read_lines


def boolean(value: str) -> bool:
    """`true` or `false`, nothing else, as Kaldi's parse_options.sh has it."""
    if value not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"'{value}' is neither true nor false")
    return value == "true"


class OptionParser(argparse.ArgumentParser):
    """argparse with Kaldi's habits.

    Every option has a long name in kebab-case and takes a value; `--config FILE` reads `--name=value`
    lines first, and the command line wins; a wrong option is an InputError that names the nearest one.
    """

    def __init__(self, usage: str, description: str, example: str):
        super().__init__(usage=usage, description=description, epilog=f"example: {example}", allow_abbrev=False,
                         formatter_class=argparse.ArgumentDefaultsHelpFormatter)
        self.add_argument("--config", metavar="FILE", help="read --name=value lines from FILE first")

    def add_signature(self, function: Callable, skip: Sequence[str] = ()) -> None:
        """Add an option for each keyword argument of `function`: name, type and default are the argument's."""
        for name, argument in inspect.signature(function, eval_str=True).parameters.items():
            if name not in skip and argument.default is not argument.empty:
                self.add_argument(kebab(name), type=option_type(argument), default=argument.default,
                                  help=" ", metavar=option_type(argument).__name__.upper())

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parse a command line. Raises InputError for a wrong option or value; `--help` prints and exits."""
        arguments = list(arguments)
        config = self._config_of(arguments)
        return self.parse_args((self.read_config(config) if config else []) + arguments)

    def _config_of(self, arguments: Sequence[str]) -> str | None:
        for this, following in zip(arguments, [*arguments[1:], None]):
            if this == "--config":
                return following
            if this.startswith("--config="):
                return this.partition("=")[2]
        return None

    def read_config(self, path: str | os.PathLike) -> list[str]:
        """The `--name=value` lines of a conf file, without comments and empty lines; each is checked."""
        known = {option for action in self._actions for option in action.option_strings}
        lines = []
        for number, line in read_lines(path):
            name, equals, _ = line.partition("=")
            if not line.startswith("--") or not equals:
                raise InputError(f"'{line}' is not an option", "write --name=value", path, number)
            if kebab(name[2:]) not in known:
                raise InputError(f"unknown option {name}", nearest(name, known), path, number)
            lines.append(kebab(name[2:]) + line[len(name):])
        return lines

    def parse_known_args(self, args=None, namespace=None):
        # Kaldi takes --stop_stage for --stop-stage.
        args = [kebab(a[2:].partition("=")[0]) + a[2:].partition("=")[1] + a[2:].partition("=")[2]
                if a.startswith("--") and a != "--" else a for a in args or []]
        known = {option for action in self._actions for option in action.option_strings}
        for argument in args:
            name = argument.partition("=")[0]
            if name.startswith("--") and name != "--" and name not in known:
                raise InputError(f"unknown option {name}", nearest(name, known))
        return super().parse_known_args(args, namespace)

    def error(self, message: str):
        raise InputError(message.replace("the following arguments are required", "missing"), f"see {self.prog} --help")


def kebab(name: str) -> str:
    """The option of an argument's name: `hidden_dim` → `--hidden-dim`."""
    return "--" + name.replace("_", "-")


def nearest(name: str, known: Sequence[str]) -> str:
    """A remedy for an unknown option: the nearest known one."""
    close = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.0)
    return f"did you mean {close[0]}?" if close else "see --help"


def option_type(argument: inspect.Parameter) -> Callable:
    """The parser of a value for a keyword argument: of its annotation, or else of its default."""
    annotation = argument.annotation
    if isinstance(annotation, types.UnionType):
        annotation = next(part for part in typing.get_args(annotation) if part is not type(None))
    kind = type(argument.default) if annotation is argument.empty else annotation
    return boolean if kind is bool else kind
