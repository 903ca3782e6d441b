"""Kaldi float vectors: archives (`.ark`) and their index (`.scp`), as `copy-vector` reads and writes them."""

import os
from pathlib import Path
from typing import IO

import kaldiio
import numpy as np
from kaldiio.matio import read_kaldi

from punc.base.errors import InputError


def write_vector(ark: IO[bytes], key: str, values: np.ndarray) -> int:
    """Append a vector to an archive as float32. Returns its offset, for the index."""
    offset = ark.tell() + len(key.encode()) + 1
    kaldiio.save_ark(ark, {key: np.asarray(values, dtype=np.float32)})
    return offset


class VectorReader:
    """Reads the vectors that the lines of an index name; each archive is opened once.

    The reader first looks for an archive of that name next to the index, so that a data directory can be moved; then
    where the index says. It refuses Kaldi's pipes (`cat x |`): reading data never runs a command.
    """

    def __init__(self, index: str | os.PathLike):
        self.index = Path(index)
        self._name: str | None = None  # of the open archive, as in the index
        self._ark: IO[bytes] | None = None

    def read(self, location: str, line: int) -> np.ndarray:
        """The vector at `ARCHIVE:OFFSET`, float32. Raises InputError, which names this line of the index."""
        name, colon, offset = location.strip().rpartition(":")
        if not colon or not offset.isascii() or not offset.isdigit() or "|" in name:
            raise InputError(f"'{location}' is not ARCHIVE:OFFSET", "make it with copy-vector or punc pauses",
                             self.index, line)
        try:
            ark = self._open(name)
            ark.seek(int(offset))
            flag = ark.read(2)
            ark.seek(int(offset))
            # kaldiio also reads pickles and sound; only Kaldi's own binary and text forms are vectors.
            vector = read_kaldi(ark) if flag == b"\0B" or flag[:1] in (b" ", b"[") else None
        except OSError:
            raise InputError(f"cannot read the archive {name}", "make the index again", self.index, line) from None
        except (ValueError, AssertionError, IndexError, RuntimeError):
            vector = None
        if vector is None or vector.ndim != 1 or vector.dtype.kind != "f":
            raise InputError(f"no float vector at {location}", "make the archive again: it is broken or something else",
                             self.index, line)
        return vector.astype(np.float32, copy=False)

    def _open(self, name: str) -> IO[bytes]:
        if self._ark is None or name != self._name:
            self.close()
            local = self.index.parent / Path(name).name
            self._ark, self._name = open(local if local.is_file() else name, "rb"), name  # noqa: SIM115
        return self._ark

    def close(self) -> None:
        """Close the archive; the next `read` opens one again."""
        if self._ark is not None:
            self._ark.close()
        self._ark = self._name = None

    def __enter__(self) -> "VectorReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
