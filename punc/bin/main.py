"""The `punc` command: finds the subcommand, runs it, and prints a user's mistake as one line."""

import importlib
import os
import sys
from collections.abc import Sequence

from punc.base import log
from punc.base.errors import InputError
from punc.base.options import nearest

COMMANDS = {
    "prepare": "raw text to a data directory",
    "validate": "check a data directory",
    "project": "carry reference slots onto other words by edit distance",
    "pauses": "word times to one pause per slot",
    "plot-pauses": "pictures of pauses, by label and against posteriors",
    "make-store": "data directories to a vocabulary and flat arrays",
    "train": "train a model",
    "punctuate": "restore punctuation with a model",
    "transcript": "a recogniser's output to punctuated text and subtitles",
    "join-transcripts": "parts of a transcript, made by several jobs, to one",
    "find-ctm": "which CTM of a Kaldi decode directory is the one",
    "score": "score a punctuated data directory against a reference",
    "results": "collect scores into RESULTS.tsv and pages",
    "publish": "copy result pages to a recipe's directory",
}


def usage() -> str:
    lines = [f"  {name:<18}{what}" for name, what in COMMANDS.items()]
    return "\n".join(["usage: punc SUBCOMMAND [options] …", "", *lines, "", "punc SUBCOMMAND --help tells more."])


def run(command: str, arguments: Sequence[str]) -> int:
    """Run one subcommand: `main(arguments)` of its module, which is imported only now (torch is slow to load)."""
    if command not in COMMANDS:
        raise InputError(f"no subcommand '{command}'", nearest(command, COMMANDS))
    return importlib.import_module(f"punc.bin.{command.replace('-', '_')}").main(arguments) or 0


def dispatch(arguments: Sequence[str]) -> int:
    """Print the usage or run a subcommand; what was printed is out when this returns."""
    try:
        if arguments and arguments[0] not in ("-h", "--help", "help"):
            return run(arguments[0], arguments[1:])
        print(usage(), file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 1
    finally:
        sys.stdout.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point. Returns the exit status: 0, 1 after a user's mistake, 130 after Ctrl-C."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    log.configure()
    name = f"punc {arguments[0]}" if arguments and arguments[0] in COMMANDS else "punc"
    try:
        return dispatch(arguments)
    except InputError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        print(f"{name}: {place}{error.strerror or error}; check the path, its permissions and the free space",
              file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
