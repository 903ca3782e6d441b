"""Result files moved into place: the pages of an experiment, and their copy in a recipe's directory."""

import os
import shutil
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from punc.base.errors import InputError
from punc.base.files import atomic_dir, atomic_file, unchanged

PAGES = ("RESULTS.tsv", "RESULTS.md")
KEY = PAGES[0]


def new_pages(directory: str | os.PathLike, *stale: str) -> AbstractContextManager[Path]:
    """A directory that replaces RESULTS.md, RESULTS.tsv and the files of results/ when the block ends.

    No program reads results without RESULTS.tsv. `stale` as in `atomic_dir`.
    """
    return atomic_dir(directory, KEY, [PAGES[1], *stale])


def write_pages(directory: str | os.PathLike, pages: Mapping[str, str]) -> None:
    """Write pages by name under a directory; pages in its results/ that are not among them are removed."""
    directory = Path(directory)
    for name, text in pages.items():
        with atomic_file(directory / name) as file:
            file.write(text)
    for path in directory.glob("results/*.md"):
        if f"results/{path.name}" not in pages:
            path.unlink()


def publish(source: str | os.PathLike, target: str | os.PathLike) -> list[str]:
    """Copy RESULTS.md, RESULTS.tsv and the files of results/ from one directory to another.

    Files in the target's results/ that the source does not have are removed; directories
    there are pages of their own and stay. Returns the names of the files copied.
    Raises InputError if the source has no pages.
    """
    source = Path(source)
    for name in PAGES:
        if not (source / name).is_file():
            raise InputError("no such file", "make it with punc results", source / name)
    names = [f"results/{path.name}" for path in sorted((source / "results").glob("[!.]*")) if path.is_file()]
    names += PAGES
    with unchanged(source / KEY), new_pages(target, "results/*") as tmp:
        (tmp / "results").mkdir()
        for name in names:
            with open(source / name, "rb") as page, open(tmp / name, "wb") as file:
                shutil.copyfileobj(page, file)
    return names
