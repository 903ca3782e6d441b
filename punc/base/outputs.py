"""An input is never an output: what a command would write is compared with what it reads."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from punc.base.errors import InputError

# Files of a data directory, which commands write and read by these names.
TABLES = frozenset(("text", "punct", "punct.labels", "utt2spk", "spk2utt", "segments", "wav.scp", "ctm", "turns",
                    "reco2file_and_channel", "pauses.scp", "pauses.ark"))


def check_outputs(outputs: Iterable[str], inputs: Iterable[str]) -> None:
    """Raise InputError if an output is an input, or is where an input has its tables, under whatever names.

    inputs   any words of a command line: those that name no file or directory are skipped
    """
    existing = [path for path in inputs if path and os.path.exists(path)]
    for out in outputs:
        for path in existing:
            if os.path.exists(out) and os.path.samefile(out, path):
                raise InputError("the output is an input", "name another output", out)
            if Path(path).name in TABLES and _same(Path(path).parent, out):
                raise InputError(f"the output would replace {path}, which is an input", "name another directory", out)
            if Path(out).name in TABLES and _same(Path(out).parent, path) and os.path.isfile(out):
                raise InputError("the output is a file of an input", "name another output", out)


def _same(directory: Path, other: str) -> bool:
    return os.path.isdir(other) and os.path.isdir(directory) and os.path.samefile(directory, other)


def words_of(values: Iterable[object]) -> Iterator[str]:
    """The texts among the values of a command line, and in its lists."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from words_of(value)
