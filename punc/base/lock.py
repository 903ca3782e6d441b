"""Locks an output directory, so that only one process at a time writes there.

The lock is flock(2) on the file `.lock` in the directory, so the system releases it even if the process is killed.
The file contains `HOST PID COMMAND` for the error messages of other processes. Over NFS, machines see each other's
locks unless the file system is mounted with `nolock` or `local_lock`.
"""

import contextlib
import errno
import fcntl
import logging
import os
import shlex
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from punc.base.errors import InputError, StrPath

logger = logging.getLogger(__name__)
NAME = ".lock"
ATTEMPTS = 100  # the maximum number of attempts to make the directory and its lock file
NOT_WRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS)
NO_LOCKS = (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK)


@contextlib.contextmanager
def lock_directory(directory: StrPath) -> Iterator[None]:
    """Make a directory and hold its lock while the block runs. Raises InputError if another process holds the lock."""
    path = Path(directory) / NAME
    made = [folder for folder in path.parents if not folder.exists()]  # deepest folder first
    try:
        with _locked(path) as file:
            try:
                yield
            finally:
                if _is_at(file, path):  # if our lock file was removed, `path` may be the lock of another process
                    path.unlink()
    finally:
        for folder in made:
            with contextlib.suppress(OSError):  # the folder may contain files, or may be gone
                folder.rmdir()


def _locked(path: Path) -> IO[str]:
    attempts = 0
    while True:
        attempts += 1
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = open(path, "a+", encoding="utf-8", errors="surrogateescape")  # noqa: SIM115 (the caller closes it)
        except (FileNotFoundError, FileExistsError):
            if attempts == ATTEMPTS:  # probably, a file has the directory's name
                raise
            continue  # probably, another process has just removed the directory: try again
        except OSError as error:
            if error.errno not in NOT_WRITABLE:
                raise
            raise InputError(f"cannot be written: {error.strerror}",
                             "change its permissions, or give another directory", path.parent) from None
        try:
            _flock(file, path)
            if _is_at(file, path):
                file.truncate(0)
                command = shlex.join([os.path.basename(sys.argv[0]), *sys.argv[1:]])
                file.write(f"{socket.gethostname()} {os.getpid()} {command}\n")
                file.flush()
                return file
        except BaseException:
            file.close()
            raise
        file.close()  # the last holder has removed this file, so no other process would see our lock: try again


def _flock(file: IO[str], path: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        host, _, rest = file.read().strip().partition(" ")
        pid, _, command = rest.partition(" ")
        who = f"process {pid} on {host} is writing here ({command})" if pid else "another process is writing here"
        raise InputError(who, "wait until it ends, or give another directory", path.parent) from None
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        logger.warning("%s: locks do not work on this file system; do not start a second process here", path.parent)


def _is_at(file: IO[str], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False
