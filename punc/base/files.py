"""Reads files, with errors that say what to do. Writes files atomically: a complete temporary file replaces the old
file."""

import contextlib
import errno
import fcntl
import glob
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from punc.base.errors import InputError, StrPath
from punc.base.lock import lock_directory
from punc.base.stop import held

NEW = ".new"  # `atomic_dir` writes into this folder of the output directory; a killed process may leave it behind
OPEN_FILE = re.compile(r"/dev/std(in|out|err)|(/dev|/proc/[^/]+)/fd/\d+")  # paths that stand for open file descriptors
FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# The names of the files in a data directory.
TABLES = frozenset(("text", "punct", "punct.labels", "utt2spk", "spk2utt", "segments", "wav.scp", "ctm", "turns",
                    "reco2file_and_channel", "pauses.scp", "pauses.ark"))


@contextlib.contextmanager
def open_input(path: StrPath, remedy: str = "make it, or give another one") -> Iterator[IO[bytes]]:
    """Open a user's file for reading in binary mode. Raises InputError if it is missing, unreadable or a directory."""
    try:
        file = open(path, "rb")  # noqa: SIM115 (if `yield` were in this `try`, it would also catch the caller's errors)
    except FileNotFoundError:
        raise InputError("no such file", remedy, path) from None
    except IsADirectoryError:
        raise InputError("this is a directory", "give a file", path) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"not readable: {reason}", "check the name and its permissions", path) from None
    with file:
        yield file


def decode_line(line: bytes, path: StrPath, number: int) -> str:
    """Decode a line and remove its line end. Raises InputError for a compressed file, CR, NUL and bytes that are not
    UTF-8."""
    if line.startswith(b"\x1f\x8b"):
        raise InputError("not text: compressed", "gunzip it", path)
    if b"\0" in line:  # before CR, because the remedy for CR would destroy UTF-16
        raise InputError("a NUL byte", "convert it: iconv -f UTF-16 -t UTF-8, if it is in that encoding", path, number)
    if b"\r" in line:
        raise InputError("the line has a carriage return", "convert the line ends: sed -i 's/\\r//g'", path, number)
    try:
        return line.decode("utf-8").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start + 1} is not UTF-8", "convert it: iconv -t UTF-8", path, number) from None


def decoded_lines(path: StrPath, remedy: str = "make it, or give another one") -> Iterator[tuple[int, str]]:
    """Yield the number (from 1) and the text of each line of a file. Raises InputError like `open_input` and
    `decode_line`."""
    with open_input(path, remedy) as file:
        for number, line in enumerate(file, 1):
            yield number, decode_line(line, path, number)


def read_lines(path: StrPath) -> Iterator[tuple[int, str]]:
    """Yield the lines of a hand-written file with their numbers, from 1. Skips empty lines and comments (`# …`)."""
    for number, raw in decoded_lines(path):
        line = raw.strip()
        if line and not line.startswith("#"):
            yield number, line


def read_blocks(path: StrPath, size: int = 1 << 20) -> Iterator[bytes]:
    """Yield the contents of a file in blocks of up to `size` bytes. Raises InputError like `open_input`."""
    with open_input(path) as file:
        while block := file.read(size):
            yield block


def check_outputs(outputs: Iterable[str], inputs: Iterable[str]) -> None:
    """Raise InputError if an output is also an input, is a directory that contains an input table, or is a table in an
    input directory. A table is a file with a name in TABLES. Files are compared by inode, so a link to an input counts
    as that input."""
    existing = [path for path in inputs if path and os.path.exists(path)]
    for out in outputs:
        for path in existing:
            if os.path.exists(out) and os.path.samefile(out, path):
                raise InputError("the output file is also an input file", "give another output", out)
            if Path(path).name in TABLES and _is_same_directory(Path(path).parent, out):
                raise InputError(f"the output would replace {path}, which is an input", "give another directory", out)
            if Path(out).name in TABLES and _is_same_directory(Path(out).parent, path) and os.path.isfile(out):
                raise InputError("the output is a file of an input directory", "give another output", out)


def _is_same_directory(directory: Path, other: str) -> bool:
    return os.path.isdir(other) and os.path.isdir(directory) and os.path.samefile(directory, other)


def _remove_leftovers(path: Path) -> None:
    """Remove the unlocked temporary files of `path`, which killed processes have left behind."""
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        # The file may be gone, or locked by the process that writes it.
        with contextlib.suppress(OSError), open(leftover, "rb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            leftover.unlink()


def _new_file(path: Path) -> tuple[int, Path]:
    while True:
        tmp = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
        try:
            file = os.open(tmp, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        except OSError as error:  # report the name of the output, not of the temporary file
            error.filename = str(path)
            raise
        with contextlib.suppress(OSError):  # some file systems have no locks; there, leftovers are never removed
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if tmp.exists():  # another process may have removed the file before it was locked
            return file, tmp
        os.close(file)


@contextlib.contextmanager
def atomic_file(path: StrPath, mode: str = "w") -> Iterator[IO]:
    """Open a temporary file that replaces `path` when the block ends without an error. Makes the directory of `path`.

    If the block raises an error or the process is killed, `path` is unchanged. Text is written as UTF-8 with line feeds
    in every locale. If `path` is a symbolic link, its target is replaced. Devices and pipes are written directly. `-`
    is standard output, in its own encoding. Raises InputError for a directory.
    """
    if os.fspath(path) == "-":
        yield sys.stdout.buffer if "b" in mode else sys.stdout
        return
    encoding, newline = (None, None) if "b" in mode else ("utf-8", "\n")
    if _is_device(path):
        with open(path, mode, encoding=encoding, newline=newline) as opened:
            yield opened
        return
    path = Path(os.path.realpath(path))
    if path.is_dir():
        raise InputError("this is a directory", "give a file", path)
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(path)
    file, tmp = _new_file(path)
    try:
        with name_full_disk(path), open(file, mode, encoding=encoding, newline=newline) as opened:
            yield opened
            opened.flush()
            os.fsync(file)
            os.replace(tmp, path)
    finally:
        tmp.unlink(missing_ok=True)


def _is_device(path: StrPath) -> bool:
    name = os.path.abspath(path)
    return bool(OPEN_FILE.fullmatch(name)) or (os.path.exists(name) and not os.path.isfile(name)
                                               and not os.path.isdir(name))


@contextlib.contextmanager
def unchanged(key: StrPath) -> Iterator[None]:
    """Raise InputError if another process replaces the file `key` while the block runs. `key` is the key file (see
    `atomic_dir`) of the directory that the block reads."""
    before = _identity(key)
    yield
    if _identity(key) != before:
        raise InputError("another process has replaced it", "run the command again", key)


def _identity(path: StrPath) -> tuple[int, int, int] | None:
    try:
        state = os.stat(path)
        return state.st_dev, state.st_ino, state.st_mtime_ns
    except OSError:
        return None


@contextlib.contextmanager
def name_full_disk(path: StrPath) -> Iterator[None]:
    """Add the name `path` to the error that a full disk raises. Python's own error often does not name the file."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        # torch.save raises a RuntimeError, whose context is the OSError.
        cause = error if isinstance(error, OSError) else error.__context__
        if not isinstance(cause, OSError) or cause.errno not in FULL_DISK:
            raise
        cause.filename = cause.filename or os.fspath(path)
        raise cause from None


@contextlib.contextmanager
def atomic_dir(path: StrPath, key: str, stale: Iterable[str] = ()) -> Iterator[Path]:
    """Yield a temporary directory in `path`. Its files move into `path` when the block ends without an error.

    During the block, this process holds the lock on `path`. Older files in `path` stay if no new file replaces them,
    because they may be the user's own.

    key     the name of a new file; programs do not read a directory without it. The old key is removed first, and the
            new key is written last, so a directory whose files were only partly replaced has no key
    stale   glob patterns; older files that match are removed, because their content would not fit the new files

    Raises InputError if `path` is a file, another process writes there, or a new file has the name of an old directory.
    """
    path = Path(os.path.abspath(path))
    if path.exists() and not path.is_dir():
        raise InputError("this is a file", "give a directory that exists or can be made", path)
    with lock_directory(path), name_full_disk(path):
        tmp = path / NEW
        shutil.rmtree(tmp, ignore_errors=True)  # a killed process may have left this folder behind
        tmp.mkdir()
        try:
            yield tmp
            assert (tmp / key).is_file(), f"the key {key} is written"
            for file in tmp.rglob("*"):
                place = path / file.relative_to(tmp)
                if place.is_dir() and not file.is_dir():
                    raise InputError("this is a directory, not a file", "remove it", place)
        except BaseException:
            shutil.rmtree(tmp, ignore_errors=True)
            raise
        with held():
            _replace(path, tmp, key, stale)  # if this fails, `tmp` stays, and `is_unfinished` returns True
        shutil.rmtree(tmp, ignore_errors=True)


def is_unfinished(path: Path) -> bool:
    """Return whether a directory is missing, contains only hidden files, or was left unfinished by a process that was
    killed in `atomic_dir`."""
    return not path.exists() or (path / NEW).is_dir() or (
        path.is_dir() and all(file.name[0] == "." for file in path.iterdir()))


def _replace(path: Path, tmp: Path, key: str, stale: Iterable[str]) -> None:
    made = [file.relative_to(tmp) for file in sorted(tmp.rglob("*"))]
    files = sorted((file for file in made if not (tmp / file).is_dir()), key=lambda file: file == Path(key))
    old = {file.relative_to(path) for pattern in stale for file in path.glob(pattern)
           if not file.is_dir() and not file.is_relative_to(tmp)}
    for file in (Path(key), *sorted(old.union(files) - {Path(key)})):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            (path / file).unlink()
    for file in made:
        if (tmp / file).is_dir():
            (path / file).mkdir(exist_ok=True)
    for file in files:
        os.replace(tmp / file, path / file)
    for folder in {file.parent for file in old} - {Path()}:
        with contextlib.suppress(OSError):  # the folder stays if it contains other files
            (path / folder).rmdir()
