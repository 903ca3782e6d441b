"""Parses the options of subcommands: `--kebab-case` names, conf files, one-line errors, and completion in the shell."""

import argparse
import difflib
import inspect
import os
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from punc.base import log
from punc.base.errors import InputError, StrPath
from punc.base.files import check_outputs, read_lines

T = typing.TypeVar("T")
FLAGS = ("--quiet", "--verbose")  # options that need no value
FEW = 12  # the maximum number of names that a message lists


def boolean(value: str) -> bool:
    """Convert `true` or `false` to a bool. Like Kaldi's parse_options.sh, accepts nothing else."""
    if value not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"'{value}' is neither true nor false")
    return value == "true"


class HelpFormatter(argparse.HelpFormatter):
    """Prints one line per option, with the default value as the user would type it."""

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
        # An epilog with an example is not wrapped.
        return text if "example: " in text else super()._fill_text(text, 100, indent)


class OptionParser(argparse.ArgumentParser):
    """An argparse parser with Kaldi's conventions.

    Every option has a long name in kebab-case and, except --help, takes a value. FLAGS also work without a value.
    `--config FILE` reads a conf file (see `config_lines`); options on the command line override its values. An unknown
    option raises InputError, which suggests the nearest name.

    notes   lines that the help shows between the options and the example
    """

    def __init__(self, usage: str, description: str, example: str, notes: Sequence[str] = ()):
        epilog = "\n".join([*notes, *([""] if notes else []), f"example: {example}"])
        super().__init__(prog=" ".join(usage.split()[:2]), usage=usage, description=description, epilog=epilog,
                         allow_abbrev=False, formatter_class=HelpFormatter)
        self._outputs: list[str] = []
        self.add_argument("--config", metavar="FILE", help="read --name=value lines from FILE first")
        self.add_argument("--quiet", type=boolean, default=False, metavar="BOOL", help="only warnings on stderr")
        self.add_argument("--verbose", type=boolean, default=False, metavar="BOOL", help="more messages on stderr")

    def add_signature(self, function: Callable, skip: Sequence[str] = (),
                      groups: Mapping[str, Sequence[str]] | None = None) -> None:
        """Add an option for each keyword argument of a function or class, with the argument's name, type and default.

        An option's help is the `text` of the docstring line `name  text` (at least two spaces) and of further, more
        deeply indented lines.

        groups   title → arguments that the help lists under this title; all other arguments are general options
        """
        titles = {name: title for title, names in (groups or {}).items() for name in names}
        sections = {title: self.add_argument_group(title) for title in groups or ()}
        for name, argument in keyword_arguments(function).items():
            if name not in skip:
                kind = option_type(argument)
                section = sections[titles[name]] if name in titles else self
                section.add_argument(kebab(name), type=kind, default=argument.default,
                                     help=description(function, name), metavar=kind.__name__.upper())

    def add_output(self, name: str, **settings: Any) -> None:
        """Add an argument for an output of the command. `parse` raises InputError if this output is also an input."""
        self._outputs.append(name)
        self.add_argument(name, **settings)

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parse a command line and configure logging. Raises InputError for a wrong option or value."""
        complete(self)
        config = _last_value(arguments, "--config")
        # Options may follow file names, unless the command line contains `--`; all arguments after `--` are file names.
        parse_args = self.parse_args if "--" in arguments else self.parse_intermixed_args
        options = parse_args([*(self.read_config(config) if config else []), *self._spelled(arguments)])
        if options.quiet and options.verbose:
            raise InputError("--quiet cannot be combined with --verbose", "give one of them")
        log.configure(options.quiet, options.verbose)
        values = vars(options)
        inputs = words_of(value for name, value in values.items() if name not in self._outputs)
        check_outputs(words_of(values[name] for name in self._outputs), inputs)
        return options

    def value(self, arguments: Sequence[str], option: str) -> str | None:
        """Return the value of one option, or None if it is not given. Ignores all other arguments. Needed
        if the other options depend on this value."""
        config = _last_value(arguments, "--config")
        lines = [f"{line.option}={line.value}" for line in config_lines(config)] if config else []
        return _last_value([*lines, *arguments], option)

    def read_config(self, path: StrPath) -> list[str]:
        """Return a conf file's options as `--name=value`. Raises InputError for unknown options or wrong values."""
        known = {option: action for action in self._actions for option in action.option_strings}
        options = []
        for line in config_lines(path):
            if line.option not in known:
                raise InputError(f"unknown option {line.option}", nearest(line.option, known), line.path, line.number)
            self._check(known[line.option], line)
            options.append(f"{line.option}={line.value}")
        return options

    def _check(self, action: argparse.Action, line: "ConfigLine") -> None:
        value, kind = line.value, typing.cast(Callable | None, action.type)
        try:
            value = kind(value) if kind else value
        except (argparse.ArgumentTypeError, TypeError, ValueError) as error:
            raise InputError(f"{line.option}: wrong value '{line.value}' ({error})", f"see {self.prog} --help",
                             line.path, line.number) from None
        if action.choices and value not in action.choices:
            raise InputError(f"{line.option}: wrong value '{line.value}'",
                             f"choose from {', '.join(map(str, action.choices))}", line.path, line.number)

    def _spelled(self, arguments: Sequence[str]) -> list[str]:
        """Spell the options for argparse: Kaldi's `--stop_stage` becomes `--stop-stage`, and `--quiet` without a value
        becomes `--quiet=true`. Raises InputError for an unknown option."""
        args = list(arguments)
        known = {option for action in self._actions for option in action.option_strings}
        for i, argument in enumerate(args[:args.index("--")] if "--" in args else args):
            if argument.startswith("--"):
                name, equals, value = argument[2:].partition("=")
                if kebab(name) not in known:
                    raise InputError(f"unknown option --{name}", nearest(kebab(name), known))
                if argument in FLAGS and args[i + 1:i + 2] not in (["true"], ["false"]):
                    equals, value = "=", "true"
                args[i] = kebab(name) + equals + value
        return args

    def error(self, message: str) -> NoReturn:
        raise InputError(message.replace("the following arguments are required", "missing"), f"see {self.prog} --help")


class ConfigLine(NamedTuple):
    path: Path
    number: int
    option: str  # `--name` in kebab-case
    value: str


def config_lines(path: StrPath, including: Sequence[Path] = ()) -> Iterator[ConfigLine]:
    """Yield the options of a conf file. Skips comments and empty lines.

    The first lines may include other files: `--config=FILE` or `--config FILE`, relative to the folder of the including
    file. The options of included files come first, so the including file overrides them.

    Raises InputError for a line that is not an option, an include after an option, a missing file, and files that
    include each other.
    """
    path, first = Path(path), True
    for number, text in read_lines(path):
        text = re.split(r"\s#", text, maxsplit=1)[0].rstrip()
        if include := re.fullmatch(r"--config(?:=|\s+)(.*)", text):
            other = path.parent / include[1]
            if not first:
                raise InputError("--config after other options", "make it the first line", path, number)
            if not other.is_file():
                raise InputError(f"no such file: {other}", "make it, or give another one", path, number)
            if any(os.path.samefile(other, file) for file in (*including, path)):
                raise InputError(f"{other} includes this file", "remove one of the two lines", path, number)
            yield from config_lines(other, (*including, path))
            continue
        first = False
        name, equals, value = text.partition("=")
        if not name.startswith("--") or not equals:
            raise InputError(f"'{text}' is not an option", "write --name=value", path, number)
        yield ConfigLine(path, number, kebab(name[2:]), value)


def words_of(values: Iterable[object]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from words_of(value)


def _last_value(arguments: Sequence[str], option: str) -> str | None:
    value = None
    for this, following in zip(arguments, [*arguments[1:], None]):
        name, equals, rest = this.partition("=")
        if name == option:
            value = rest if equals else following
    return value


def keyword_arguments(function: Callable) -> dict[str, inspect.Parameter]:
    """Return the arguments that have a default, by name. If a class has `**options`, also return
    the arguments of its base class."""
    arguments = inspect.signature(function, eval_str=True).parameters
    found = {name: argument for name, argument in arguments.items() if argument.default is not argument.empty}
    if isinstance(function, type) and any(argument.kind is argument.VAR_KEYWORD for argument in arguments.values()):
        found = {**keyword_arguments(function.__mro__[1]), **found}
    return found


def from_args(kind: Callable[..., T], args: argparse.Namespace) -> T:
    """Call `kind` with the values of the options that `OptionParser.add_signature(kind)` added."""
    return kind(**{name: getattr(args, name) for name in keyword_arguments(kind)})


def description(function: Callable, name: str) -> str:
    """Return the description of an argument from the docstring of a function, a class, or a base of the class. If
    there is none, returns the argument's name with spaces instead of underscores."""
    for owner in getattr(function, "__mro__", (function,)):
        found = re.search(rf"^( *){name} {{2,}}(.+(?:\n\1 +\S.*)*)$", owner.__doc__ or "", re.MULTILINE)
        if found:
            return " ".join(found[2].split()).replace("%", "%%")
    return name.replace("_", " ")


def kebab(name: str) -> str:
    return "--" + name.replace("_", "-")


def with_options(error: InputError) -> str:
    """Return an error's message for the command line: a leading `name=value` becomes `--name=value`."""
    if error.file is None and (argument := re.match(r"([a-z]\w*)=", error.what)):
        return kebab(argument[1]) + str(error)[len(argument[1]):]
    return str(error)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a remedy for an unknown name: a similar known name, the known names if there are at most FEW, or
    --help."""
    names = sorted(known)
    if close := difflib.get_close_matches(name, names, n=1):
        return f"did you mean {close[0]}?"
    return f"choose from {' '.join(names)}" if 0 < len(names) <= FEW else "see --help"


def option_type(argument: inspect.Parameter) -> Callable:
    """Return the function that converts an option's value: the argument's annotation, or the type of its default if
    it has no annotation. For bool, this is `boolean`."""
    annotation = argument.annotation
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        annotation = next(part for part in typing.get_args(annotation) if part is not type(None))
    kind = type(argument.default) if annotation is argument.empty else annotation
    return boolean if kind is bool else kind


def completion_asked() -> bool:
    return "_ARGCOMPLETE" in os.environ


def complete(parser: argparse.ArgumentParser) -> None:
    """If the shell asks for completions, print matching options and values of this parser, and exit (argcomplete)."""
    if completion_asked():
        import argcomplete
        argcomplete.autocomplete(parser)
