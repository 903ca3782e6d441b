"""Shares the work of a command among jobs, on one or more machines: `--jobs N --job J`, then `punc join`.

Each job processes a contiguous share of the input and makes a *part*: a directory with its output and part.json,
which describes the part. `punc join` calls `join(parts, out)` of the command's module in punc/bin, then removes the
parts. The joined output equals the output of a run without `--jobs`, byte for byte.
"""

import hashlib
import json
import os
import shutil
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from punc.base.errors import InputError, StrPath
from punc.base.files import NEW, atomic_dir, is_unfinished, open_input
from punc.base.lock import NAME as LOCK
from punc.base.lock import lock_directory
from punc.base.options import OptionParser

T = TypeVar("T")
FILE = "part.json"
JOINED = ".joined"  # this file marks a part that has been joined and is being removed
# Options and arguments that may differ between the jobs of a command.
OWN = {"job", "jobs", "nj", "config", "quiet", "verbose", "out"}


def add_job_options(parser: OptionParser) -> None:
    parser.add_argument("--jobs", type=int, default=0, metavar="N",
                        help="number of jobs that share the work, on any machines; each job writes a part, and punc "
                             "join joins the parts; 0: the work is not shared")
    parser.add_argument("--job", type=int, default=1, metavar="J", help="which of these jobs this is, from 1")


class Share(NamedTuple):
    job: int  # counted from 1
    jobs: int

    @classmethod
    def parsed(cls, args: Namespace) -> "Share | None":
        """Return the share that `--jobs` and `--job` select; None without them. Raises InputError unless 1 ≤ J ≤ N."""
        if not args.jobs and args.job == 1:
            return None
        if not 1 <= args.job <= args.jobs:
            raise InputError(f"--job={args.job} is not one of the --jobs={args.jobs} jobs", "count from 1 to --jobs")
        return cls(args.job, args.jobs)

    def of(self, items: Iterable[T], size: Callable[[T], int], total: int,
           streams: Callable[[T], tuple[str, str]] | None = None) -> Iterator[T]:
        """Yield the items of this share. The shares are consecutive and have about the same total size.

        size     returns the size of an item, such as its number of words or bytes
        total    the total size of all items; an estimate is enough
        streams  returns the first and last stream of an item; if given, no stream is divided between two shares
        """
        before, job, last = 0, 1, None
        for item in items:
            much = size(item)
            first, end = streams(item) if streams else (None, None)
            if first is None or first != last:
                job = 1 + min(self.jobs - 1, int(self.jobs * (before + much / 2) / max(total, 1)))
            if job > self.job:
                return
            if job == self.job:
                yield item
            before += much
            last = end


class Part(NamedTuple):
    """The output of one job, which the subcommand `command` made for `share` in the directory `path`."""

    path: Path
    command: str
    share: Share
    options: dict[str, Any]  # the command's options and arguments, without those in OWN; they must be equal in all jobs
    inputs: dict[str, list[int]]  # file → [bytes, time of last change in ns]; no input may change before the join
    result: dict[str, Any]  # values that the job passes to `join`

    def files(self) -> list[str]:
        """Return the names of the part's files in C-locale order, without part.json and hidden files."""
        return sorted({file.name for file in self.path.iterdir() if file.name[0] != "."} - {FILE})

    @property
    def again(self) -> str:
        return f"run punc {self.command} with --job={self.share.job} again"


def state_of(path: StrPath) -> list[int]:
    """Return a file's size in bytes and the time of its last change in ns. Raises InputError if it is missing."""
    with open_input(path) as file:
        state = os.fstat(file.fileno())
    return [state.st_size, state.st_mtime_ns]


@contextmanager
def new_part(path: Path, command: str, share: Share, args: Namespace,
             inputs: Iterable[StrPath]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield a temporary directory for the files of a part, and a dictionary for the part's `result`. The part replaces
    an older part at `path`. Raises InputError if `path` contains files but no part, or if another job is writing
    there."""
    states = {os.fspath(file): state_of(file) for file in inputs if os.path.isfile(file)}
    options = {name: value for name, value in vars(args).items() if name not in OWN}
    if path.is_dir() and not (path / FILE).is_file() and not is_unfinished(path):
        raise InputError("this directory exists and was not written by a job",
                         "give a new directory for each job", path)
    with atomic_dir(path, FILE) as tmp:
        clear_part(path)
        (path / JOINED).unlink(missing_ok=True)
        part = Part(path, command, share, options, states, {})
        yield tmp, part.result
        content = {name: value for name, value in part._asdict().items() if name != "path"}
        content["sha256"] = _checksum(content)
        (tmp / FILE).write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _checksum(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read_part(path: Path) -> Part:
    """Read the part.json of a part. Raises InputError if the directory is not a part."""
    with open_input(path / FILE) as file:
        try:
            content = json.loads(file.read())
            checksum = content.pop("sha256")
            if checksum != _checksum(content):
                raise ValueError
            return Part(path, **content)._replace(share=Share(*content["share"]))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise InputError("not the output of a job", "run the job again", path / FILE) from None


def read_parts(paths: Sequence[Path]) -> list[Part]:
    """Read the parts of all jobs of a command; `paths` must be in the order of the jobs. Raises InputError if a part is
    missing or out of order, or differs from the first part in command, options or inputs, or if an input has changed
    since the jobs ran."""
    parts: list[Part] = []
    for number, path in enumerate(paths, 1):
        if not (path / FILE).is_file():
            raise InputError("the output of this job is missing", f"run the command with --job={number} again", path)
        part = read_part(path)
        if part.share != (number, len(paths)):
            raise InputError(f"the part of --job={part.share.job} --jobs={part.share.jobs}, not of job {number} of "
                             f"{len(paths)}", "give the outputs of all jobs, in order", path)
        parts.append(part)
        _check_alike(parts[0], part)
    for file, state in parts[0].inputs.items():
        if state_of(file) != state:
            raise InputError("the file has changed since the jobs ran", "run all jobs again", file)
    return parts


def _check_alike(first: Part, part: Part) -> None:
    remedy = "run all jobs again, with the same options and inputs"
    if part.command != first.command:
        raise InputError(f"made by punc {part.command}, but {first.path} by punc {first.command}", remedy, part.path)
    for name in [*first.options, *part.options]:
        value, other = part.options.get(name), first.options.get(name)
        if value != other:
            raise InputError(f"{name} is {value}, but {other} in {first.path}", remedy, part.path / FILE)
    for name in [*first.inputs, *part.inputs]:
        if part.inputs.get(name) != first.inputs.get(name):
            raise InputError(f"{name} was a different file in {first.path}", remedy, part.path / FILE)


def clear_part(path: Path) -> None:
    """Remove a part's files from its directory, part.json first. If the process is killed meanwhile, `is_unfinished`
    recognises the rest of the part by the directory `NEW`."""
    (path / NEW).mkdir(exist_ok=True)
    (path / FILE).unlink(missing_ok=True)
    for file in sorted(path.iterdir()):
        if file.name[0] != ".":
            if file.is_dir():
                shutil.rmtree(file)
            else:
                file.unlink(missing_ok=True)


@contextmanager
def joining(paths: Sequence[Path]) -> Iterator[list[Part]]:
    """Yield the parts of all jobs of a command, in order. Removes the parts when the block ends without an error."""
    read_parts(paths)  # checks the parts before they are locked, because locking would create a missing directory
    with _locked(paths):
        yield read_parts(paths)
        for path in paths:
            (path / JOINED).touch()
        _remove(paths)


def finish_joining(paths: Sequence[Path]) -> bool:
    """Finish the removal of joined parts if the process that was removing them was killed. Returns whether anything was
    left to remove."""
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
        with suppress(OSError):  # the directory stays if it contains a hidden file of the user
            path.rmdir()


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        clear_part(path)
        (path / NEW).rmdir()
    for path in paths:  # a second loop, because `finish_joining` needs the files JOINED until all parts are cleared
        (path / JOINED).unlink()


def concatenate(paths: Iterable[Path], out: Path) -> None:
    """Concatenate files into `out`. Raises InputError if a file is missing."""
    with open(out, "wb") as file:
        for path in paths:
            with open_input(path) as source:
                shutil.copyfileobj(source, file, 1 << 20)
