"""Files: read with errors that a user can act on; written under another name, then renamed: whole or not at all."""

import contextlib
import glob
import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from punc.base.errors import InputError


@contextlib.contextmanager
def open_input(path: str | os.PathLike) -> Iterator[IO[bytes]]:
    """Open a user's file to read its bytes. Raises InputError if it is missing, unreadable or a directory."""
    try:
        file = open(path, "rb")  # noqa: SIM115 (closed below; errors in the caller's block are not caught)
    except FileNotFoundError:
        raise InputError("no such file", "make it, or name another one", path) from None
    except IsADirectoryError:
        raise InputError("this is a directory", "name a file", path) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"not readable: {reason}", "check the name and its permissions", path) from None
    with file:
        yield file


def decode_line(line: bytes, path: str | os.PathLike, number: int) -> str:
    """A line as text, without its line end. Raises InputError for CR, NUL and bytes that are not UTF-8."""
    if b"\r" in line:
        raise InputError("a carriage return", "convert the line ends: sed -i 's/\\r//g'", path, number)
    if b"\0" in line:
        raise InputError("a NUL byte", "remove it: the file is not text, or is broken", path, number)
    try:
        return line.decode("utf-8").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start + 1} is not UTF-8", "convert it: iconv -t UTF-8", path, number) from None


def read_lines(path: str | os.PathLike) -> Iterator[tuple[int, str]]:
    """The lines of a file that people write, numbered from 1, without empty lines and comments (`# …` lines)."""
    with open_input(path) as file:
        for number, raw in enumerate(file, 1):
            line = decode_line(raw, path, number).strip()
            if line and not line.startswith("#"):
                yield number, line


def read_blocks(path: str | os.PathLike, size: int = 1 << 20) -> Iterator[bytes]:
    """A file in blocks of `size` bytes; the last may be shorter. Raises InputError if it is missing or not a file."""
    with open_input(path) as file:
        while block := file.read(size):
            yield block


def _tmp_path(path: str | os.PathLike) -> tuple[Path, Path]:
    """The absolute path, and a name in the same directory for the unfinished file; makes that directory.

    Removes what killed processes left under such names.
    """
    path = Path(os.path.abspath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    host = socket.gethostname()
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.*@{glob.escape(host)}.tmp"):
        pid = leftover.name.removesuffix(f"@{host}.tmp").rpartition(".")[2]
        if pid.isdecimal() and not _runs(int(pid)):
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink(missing_ok=True)
    return path, path.with_name(f".{path.name}.{os.getpid()}@{host}.tmp")


def _runs(pid: int) -> bool:
    """Whether a process runs on this machine. A killed one does not, even if its parent has not noticed yet (`Z`)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:  # not Linux
        return True


@contextlib.contextmanager
def atomic_file(path: str | os.PathLike, mode: str = "w") -> Iterator[IO]:
    """Open a file that replaces `path` when the block ends without an error.

    Text is written as UTF-8 with "\\n" line ends, whatever the locale. After an error or a kill, `path` is as before.
    """
    path, tmp = _tmp_path(path)
    encoding, newline = (None, None) if "b" in mode else ("utf-8", "\n")
    try:
        with open(tmp, mode, encoding=encoding, newline=newline) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(tmp, path)
    finally:
        tmp.unlink(missing_ok=True)


@contextlib.contextmanager
def atomic_dir(path: str | os.PathLike) -> Iterator[Path]:
    """Make a directory next to `path`; its files move into `path` when the block ends without an error.

    Older files in `path` that are not written again stay, so that a user's own files in a data directory are not lost.

    Raises InputError if `path` is a file.
    """
    path, tmp = _tmp_path(path)
    if path.exists() and not path.is_dir():
        raise InputError("this is a file", "name a directory, or one that can be made", path)
    shutil.rmtree(tmp, ignore_errors=True)
    tmp.mkdir()
    try:
        yield tmp
        if not path.exists():
            os.replace(tmp, path)
            return
        for file in sorted(tmp.rglob("*")):
            if file.is_file():
                target = path / file.relative_to(tmp)
                target.parent.mkdir(parents=True, exist_ok=True)
                os.replace(file, target)
    finally:
        shutil.rmtree(tmp, ignore_errors=True)
