"""Files with the times of words, one for each id, which is the file's name without its ending."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from punc.base.errors import InputError
from punc.timing.ctm import Timing


def index_files(files: Sequence[Path], kind: str, read: Callable[..., Timing],
                path: str | Path) -> dict[str, Callable[..., Timing]]:
    """Each file by its id, with a function that reads its timing: `read` of the file.

    kind   what the files are, for errors
    path   where they were looked for, for errors

    Raises InputError if two files have the same id.
    """
    twice, number = Counter(file.stem for file in files).most_common(1)[0]
    if number > 1:
        raise InputError(f"{number} {kind} are called '{twice}'", "keep one for each id", path)
    return {file.stem: partial(read, file) for file in files}
