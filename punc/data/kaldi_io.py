"""Reads float vectors and matrices from Kaldi's archives (`.ark`), and appends vectors to archives.

An index (`.scp`) contains the path of the archive and the offset for each vector.

The data may be untrusted, so only Kaldi's binary float vectors and matrices are read. The package kaldiio is used only
for writing: it would also read Python objects by unpickling, which can run any code, and it would trust any size in a
header.
"""

import os
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO

import numpy as np

from punc.base.errors import InputError, StrPath

# The first bytes of a binary vector or matrix → its number of dimensions and its NumPy type.
KINDS = {b"\0BFV ": (1, "<f4"), b"\0BDV ": (1, "<f8"), b"\0BFM ": (2, "<f4"), b"\0BDM ": (2, "<f8")}
LONGEST_KEY = 4096  # bytes; the maximum length of a key
LARGEST = 1 << 31  # bytes; the maximum size of a vector or matrix
LOCATION = re.compile(r"([^|]+):(\d{1,18})", re.ASCII)
BINARY = "make the archive again, in Kaldi's binary form (ark:, not ark,t:): it is broken or of another kind"


def write_vector(ark: IO[bytes], key: str, values: np.ndarray) -> int:
    """Append a vector, as float32, to an archive. Return its offset, which the index needs."""
    offset = ark.tell() + len(key.encode()) + 1
    import kaldiio  # imported here, because the import would delay the first word of `punc punctuate -`
    kaldiio.save_ark(ark, {key: np.asarray(values, dtype=np.float32)})
    return offset


def read_archive(path: StrPath) -> Iterator[tuple[str, np.ndarray]]:
    """Yield each key of an archive with its vector (N,) or matrix (R, C), float32. Raises InputError if the file
    cannot be read or contains anything else."""
    try:
        if not Path(path).is_file():  # opening a pipe would block until it has a writer
            raise FileNotFoundError(2, "no such file")
        with open(path, "rb") as ark:
            size = os.fstat(ark.fileno()).st_size
            while key := _read_key(ark):
                try:
                    yield key.decode(), read_array(ark, size)
                except (ValueError, MemoryError):
                    name = key[:60].decode("utf-8", "replace")
                    raise InputError(f"'{name}' at byte {ark.tell()} is not a float vector or matrix of at most 2 GiB",
                                     BINARY, path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", "make the archive again", path) from None


def read_posteriors(path: StrPath) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the same as `read_archive`. Also raises InputError for negative, infinite and NaN values."""
    for key, posteriors in read_archive(path):
        if posteriors.size and not (posteriors.min() >= 0 and posteriors.max() < np.inf):  # false for NaN
            raise InputError(f"'{key[:60]}' has numbers that are not posteriors", "punctuate again", path)
        yield key, posteriors


def _read_key(ark: IO[bytes]) -> bytes:
    key = b""
    while (byte := ark.read(1)) not in (b"", b" ") and len(key) < LONGEST_KEY:
        key += byte
    return key


def read_array(file: IO[bytes], size: int) -> np.ndarray:
    """Return the float vector (N,) or matrix (R, C) at the current position in a file of `size` bytes, as float32.
    Raises ValueError for any other content, and for a number that is too large for float32."""
    dimensions, kind = KINDS.get(file.read(5), (0, ""))
    if not dimensions:
        raise ValueError("not a float vector or matrix")
    shape = []
    for _ in range(dimensions):
        number = file.read(5)  # a byte with the size of the number, 4, and then the number, an int32
        if len(number) < 5 or number[0] != 4:
            raise ValueError("no int32")
        shape.append(int.from_bytes(number[1:], "little", signed=True))
    count = int(np.prod(shape, dtype=object)) * np.dtype(kind).itemsize
    if min(shape) < 0 or count > min(LARGEST, size - file.tell()):
        raise ValueError("it is shorter than its header says, or too large")
    array = np.frombuffer(file.read(count), kind)
    with np.errstate(over="ignore"):
        single = array.astype(np.float32)
    if (np.isinf(single) & ~np.isinf(array)).any():
        raise ValueError("a number beyond float32")
    return single.reshape(shape)


def parse_location(location: str, index: StrPath, line: int) -> tuple[str, int]:
    """Split `ARCHIVE:OFFSET` into path and offset. Raises InputError for any other text; the error names the index and
    the line number `line`."""
    if found := LOCATION.fullmatch(location.strip()):
        return found[1], int(found[2])
    raise InputError(f"'{location[:200]}' is not ARCHIVE:OFFSET", "make it with punc pauses", index, line)


class VectorReader(AbstractContextManager):
    """Reads the vectors that an index lists. Looks for an archive first next to the index, in case the data directory
    has been moved, and then at the path in the index. Refuses Kaldi's pipes (`cat x |`), so that no command runs."""

    def __init__(self, index: StrPath):
        self.index = Path(index)
        self._name: str | None = None  # the name of the open archive, as in the index
        self._ark: IO[bytes] | None = None

    def read(self, location: str, line: int) -> np.ndarray:
        """Return the vector at `ARCHIVE:OFFSET`, float32. Raises InputError if there is none; the error names the index
        and the line number `line`."""
        name, offset = parse_location(location, self.index, line)
        try:
            ark = self._open(name)
            ark.seek(offset)
            vector = read_array(ark, os.fstat(ark.fileno()).st_size)
        except OSError:
            raise InputError(f"cannot read the archive {name}", "make the index again", self.index, line) from None
        except (ValueError, MemoryError):
            vector = None
        if vector is None or vector.ndim != 1:
            raise InputError(f"no float vector at {location}", BINARY, self.index, line)
        return vector

    def _open(self, name: str) -> IO[bytes]:
        if self._ark is None or name != self._name:
            self.close()
            local = self.index.parent / Path(name).name
            path = local if local.is_file() else Path(name)
            if not path.is_file():  # opening a pipe would block until it has a writer
                raise FileNotFoundError(name)
            self._ark, self._name = open(path, "rb"), name  # noqa: SIM115
        return self._ark

    def close(self) -> None:
        if self._ark is not None:
            self._ark.close()
        self._ark = self._name = None

    def __exit__(self, *_: object) -> None:
        self.close()


# A path in an index must not contain these: a line end ends the entry, `|` makes a pipe, NUL is not allowed in paths,
# and Kaldi skips leading blanks.
NEVER = re.compile(r"[\n\r|\0]|^[ \t]")


def archive_path(path: StrPath) -> str:
    """Return an archive's path as it is written in an index. Raises InputError if an index cannot contain the path."""
    name = os.fspath(path)
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InputError("an index cannot contain this name, because it is not UTF-8", "rename the directory",
                         path) from None
    if found := NEVER.search(name):
        raise InputError(f"an index cannot contain this name, because it has {found[0]!r}", "rename the directory",
                         path)
    return name
