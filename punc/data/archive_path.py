"""The path of an archive, as the lines of its index have it."""

import os
import re

from punc.base.errors import InputError

# A line end would end the line, and a `|` make the path a pipe, which no reader here runs. Kaldi skips a first blank.
NEVER = re.compile(r"[\n\r|\0]|^[ \t]")


def archive_path(path: str | os.PathLike) -> str:
    """The path of an archive, for its index. Raises InputError if an index with it could not be read back."""
    name = os.fspath(path)
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InputError("no index can have this name: it is not UTF-8", "rename the directory", path) from None
    if found := NEVER.search(name):
        raise InputError(f"no index can have this name: it has {found[0]!r}", "rename the directory", path)
    return name
