"""Completion of command lines in the shell, by the package argcomplete if it is installed (docs/install.md).

The shell calls `punc` with the line so far in the environment; argcomplete prints how it can go on, and exits.
"""

import argparse
import os


def asked() -> bool:
    """Whether the shell asks for a completion, rather than for the command to run."""
    return "_ARGCOMPLETE" in os.environ


def complete(parser: argparse.ArgumentParser) -> None:
    """If the shell asks, answer with the options and values of this parser, and exit."""
    if asked():
        import argcomplete
        argcomplete.autocomplete(parser)


def words() -> list[str]:
    """The words of the line before the one that is to be completed; the first is the program."""
    from argcomplete import lexers
    return lexers.split_line(os.environ["COMP_LINE"], int(os.environ["COMP_POINT"]))[3]


def leave_out_first_word() -> None:
    """Take the line's second word for the program: a parser of a subcommand does not know the subcommand's name."""
    os.environ["_ARGCOMPLETE"] = str(int(os.environ["_ARGCOMPLETE"]) + 1)
