"""Parts that are joined: by one process at a time, and removed when all that is made of them is whole."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from punc.base.files import NEW, open_input
from punc.base.jobs import JOINED, Part, clear_part, read_parts
from punc.base.lock import NAME as LOCK
from punc.base.lock import lock_directory


@contextmanager
def joining(paths: Sequence[Path]) -> Iterator[list[Part]]:
    """The parts of all jobs of one command line, in order; they are removed when the block ends without an error.

    Raises InputError as `read_parts` does, and if a job writes one.
    """
    read_parts(paths)  # before a lock makes a directory that is missing
    with _locked(paths):
        yield read_parts(paths)
        for path in paths:
            (path / JOINED).touch()
        _remove(paths)


def finish_joining(paths: Sequence[Path]) -> bool:
    """Remove what a killed process, which had joined these parts, has left of them. Returns whether that is so."""
    found = [path for path in paths if path.is_dir()]
    left = [path for path in found if any(file.name != LOCK for file in path.iterdir())]
    if not left or not all((path / JOINED).exists() for path in left):
        return False
    with _locked(found):
        _remove(left)
    return True


@contextmanager
def _locked(paths: Iterable[Path]) -> Iterator[None]:
    with ExitStack() as stack:
        for path in paths:
            stack.enter_context(lock_directory(path))
        yield
    for path in paths:
        with suppress(OSError):  # a user's hidden file
            path.rmdir()


def _remove(paths: Iterable[Path]) -> None:
    """Remove the files of parts; the mark of each goes last."""
    for path in paths:
        clear_part(path)
        (path / NEW).rmdir()
    for path in paths:  # when the last one has gone, all is done
        (path / JOINED).unlink()


def concatenate(paths: Iterable[Path], out: Path) -> None:
    """Write files one after another to the file `out`. Raises InputError if one is missing."""
    with open(out, "wb") as file:
        for path in paths:
            with open_input(path) as source:
                shutil.copyfileobj(source, file, 1 << 20)
