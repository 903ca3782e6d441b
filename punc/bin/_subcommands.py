"""Finds the subcommands of `punc` by their file names, prints the usage, and completes command lines."""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from punc import __version__
from punc.base.errors import InputError
from punc.base.options import complete, completion_asked, nearest

# The subcommands that `punc --help` describes, in this order. For other subcommands, it only lists the names.
DESCRIBED = ("prepare", "abbreviations", "pauses", "turns", "make-store", "soft-targets", "train", "pack", "punctuate",
             "transcript", "live", "serve", "score", "score-text", "join", "results", "report", "publish",
             "validate", "project", "confusions", "corrupt", "export-text", "plot-pauses", "plot-labels",
             "kaldi-scripts")
FOLDER = Path(__file__).parent


def commands() -> list[str]:
    """Return the names of the subcommands: the modules' names, with hyphens. `make-store` is make_store.py."""
    found = {path.stem.replace("_", "-") for path in FOLDER.glob("[!_]*.py")} - {"main", "script"}
    return [*(name for name in DESCRIBED if name in found), *sorted(found.difference(DESCRIBED))]


def summary(command: str) -> str:
    """Return the summary of a subcommand, which is in the first line of its file, after the colon."""
    # The file is read, because importing it would be slow.
    with open(FOLDER / f"{command.replace('-', '_')}.py", encoding="utf-8") as file:
        return file.readline().partition(": ")[2].strip('".\n')


def usage() -> str:
    lines = [f"  {name:<14}{summary(name)}" for name in commands() if name in DESCRIBED]
    plumbing = ", ".join(name for name in commands() if name not in DESCRIBED)
    return "\n".join(["usage: punc SUBCOMMAND [options] …", "", *lines, "", f"Scripts also use: {plumbing}.",
                      "punc SUBCOMMAND --help describes one; punc --version prints the version."])


def run(command: str, arguments: Sequence[str]) -> int:
    if command not in commands():
        raise InputError(f"no subcommand '{command}'", nearest(command, commands()))
    if command in ("punctuate", "transcript", "live", "serve"):
        # Decoding multiplies matrices that are so small that several threads would only wait for each other. OpenBLAS
        # reads this variable when NumPy is imported, here and in worker processes.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    return importlib.import_module(f"punc.bin.{command.replace('-', '_')}").main(arguments) or 0


def dispatch(arguments: Sequence[str]) -> int:
    if completion_asked():
        complete_subcommand()
    if not arguments:
        print(usage(), file=sys.stderr)
        return 1
    if arguments[0] in ("-h", "--help", "help"):
        print(usage())
    elif arguments[0] == "--version":
        print(f"punc {__version__}")
    else:
        return run(arguments[0], arguments[1:])
    return 0


def complete_subcommand() -> None:
    """Print completions of the command line for the shell. Imports only the subcommand on this command line."""
    from argcomplete import lexers
    words = lexers.split_line(os.environ["COMP_LINE"], int(os.environ["COMP_POINT"]))[3][1:]
    if words and words[0] in commands():
        # For the parser of a subcommand, argcomplete must skip one more word: the subcommand.
        os.environ["_ARGCOMPLETE"] = str(int(os.environ["_ARGCOMPLETE"]) + 1)
        run(words[0], words[1:])
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("subcommand", choices=commands())
    parser.add_argument("--help", action="store_true")
    parser.add_argument("--version", action="store_true")
    complete(parser)
