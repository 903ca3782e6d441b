"""Options of the subcommands: `--kebab-case`, conf files, and errors of one line."""

import argparse
import difflib
import inspect
import os
import re
import types
import typing
from collections.abc import Callable, Iterable, Sequence

from punc.base.errors import InputError
from punc.base.files import read_lines


def boolean(value: str) -> bool:
    """`true` or `false`, nothing else, as Kaldi's parse_options.sh has it."""
    if value not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"'{value}' is neither true nor false")
    return value == "true"


class HelpFormatter(argparse.HelpFormatter):
    """One line an option, with its default as it would be written on the command line."""

    def __init__(self, prog: str):
        super().__init__(prog, max_help_position=80, width=1000)

    def _get_help_string(self, action: argparse.Action) -> str:
        if not action.option_strings or action.default in (None, "", [], argparse.SUPPRESS):
            return action.help or ""
        default = action.default
        if isinstance(default, list):
            default = " ".join(map(str, default))
        default = str(default).lower() if isinstance(default, bool) else str(default).replace("%", "%%")
        return f"{action.help or ''} (default: {default})".lstrip()

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith("example: ") else super()._fill_text(text, 100, indent)


class OptionParser(argparse.ArgumentParser):
    """argparse with Kaldi's habits.

    Every option has a long name in kebab-case and takes a value; `--config FILE` reads `--name=value`
    lines first, and the command line wins; a wrong option is an InputError that names the nearest one.
    """

    def __init__(self, usage: str, description: str, example: str):
        super().__init__(prog=" ".join(usage.split()[:2]), usage=usage, description=description,
                         epilog=f"example: {example}", allow_abbrev=False, formatter_class=HelpFormatter)
        self.add_argument("--config", metavar="FILE", help="read --name=value lines from FILE first")

    def add_signature(self, function: Callable, skip: Sequence[str] = ()) -> None:
        """Add an option for each keyword argument of `function`, which may be a class.

        Name, type and default are those of the argument; its help is the text after its name in a line
        `    name   text` of the docstring.
        """
        for name, argument in keyword_arguments(function).items():
            if name not in skip:
                self.add_argument(kebab(name), type=option_type(argument), default=argument.default,
                                  help=description(function, name), metavar=option_type(argument).__name__.upper())

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parse a command line. Raises InputError for a wrong option or value; `--help` prints and exits."""
        arguments = list(arguments)
        config = self._config_of(arguments)
        return self.parse_args((self.read_config(config) if config else []) + arguments)

    def _config_of(self, arguments: Sequence[str]) -> str | None:
        return _last_value(arguments, "--config")

    def value(self, arguments: Sequence[str], option: str) -> str | None:
        """The value of one option, on the command line or in the conf file, before anything is checked.

        For an option that decides which other options there are.
        """
        config = self._config_of(arguments)
        lines = [line for _, line in read_lines(config)] if config else []
        return _last_value([*lines, *arguments], option)

    def read_config(self, path: str | os.PathLike) -> list[str]:
        """The `--name=value` lines of a conf file, without comments and empty lines; each is checked."""
        known = {option: action for action in self._actions for option in action.option_strings}
        del known["--config"]
        lines = []
        for number, line in read_lines(path):
            line = re.split(r"\s#", line, maxsplit=1)[0].rstrip()
            name, equals, value = line.partition("=")
            if not line.startswith("--") or not equals:
                raise InputError(f"'{line}' is not an option", "write --name=value", path, number)
            if kebab(name[2:]) not in known:
                raise InputError(f"unknown option {name}", nearest(name, known), path, number)
            self._check(known[kebab(name[2:])], value, path, number)
            lines.append(kebab(name[2:]) + line[len(name):])
        return lines

    def _check(self, action: argparse.Action, value: str, path: str | os.PathLike, number: int) -> None:
        """Check a value of a conf file, where argparse could not say the line."""
        try:
            value = action.type(value) if action.type else value
        except (argparse.ArgumentTypeError, TypeError, ValueError) as error:
            raise InputError(f"{action.option_strings[0]}: no value: '{value}' ({error})", f"see {self.prog} --help",
                             path, number) from None
        if action.choices and value not in action.choices:
            raise InputError(f"{action.option_strings[0]}: no choice: '{value}'",
                             f"choose from {', '.join(map(str, action.choices))}", path, number)

    def parse_known_args(self, args=None, namespace=None):
        args = list(args or [])
        known = {option for action in self._actions for option in action.option_strings}
        for i, argument in enumerate(args[:args.index("--")] if "--" in args else args):
            if argument.startswith("--"):
                # Kaldi takes --stop_stage for --stop-stage.
                name, equals, value = argument[2:].partition("=")
                if kebab(name) not in known:
                    raise InputError(f"unknown option --{name}", nearest(kebab(name), known))
                args[i] = kebab(name) + equals + value
        return super().parse_known_args(args, namespace)

    def error(self, message: str):
        raise InputError(message.replace("the following arguments are required", "missing"), f"see {self.prog} --help")


def _last_value(arguments: Sequence[str], option: str) -> str | None:
    value = None
    for this, following in zip(arguments, [*arguments[1:], None]):
        name, equals, rest = this.partition("=")
        if name == option:
            value = rest if equals else following
    return value


def keyword_arguments(function: Callable) -> dict[str, inspect.Parameter]:
    """The arguments that have a default value, by name.

    If the constructor of a class takes `**options`, they are those of the constructor of its base class.
    """
    arguments = inspect.signature(function, eval_str=True).parameters
    found = {name: argument for name, argument in arguments.items() if argument.default is not argument.empty}
    if isinstance(function, type) and any(argument.kind is argument.VAR_KEYWORD for argument in arguments.values()):
        found = {**keyword_arguments(function.__mro__[1]), **found}
    return found


def description(function: Callable, name: str) -> str:
    """What the docstring of a function, or of a class or its base classes, says of an argument; else its name."""
    documented = inspect.getmro(function) if isinstance(function, type) else (function,)
    lines = (re.search(rf"^ +{name} {{2,}}(.+)$", each.__doc__ or "", re.MULTILINE) for each in documented)
    line = next(filter(None, lines), None)
    return (line[1] if line else name.replace("_", " ")).replace("%", "%%")


def kebab(name: str) -> str:
    """The option of an argument's name: `hidden_dim` → `--hidden-dim`."""
    return "--" + name.replace("_", "-")


def nearest(name: str, known: Iterable[str]) -> str:
    """A remedy for an unknown option: the nearest known one."""
    close = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.0)
    return f"did you mean {close[0]}?" if close else "see --help"


def option_type(argument: inspect.Parameter) -> Callable:
    """The parser of a value for a keyword argument: of its annotation, or else of its default."""
    annotation = argument.annotation
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        annotation = next(part for part in typing.get_args(annotation) if part is not type(None))
    kind = type(argument.default) if annotation is argument.empty else annotation
    return boolean if kind is bool else kind
