"""Arrays on disk, small: matrices as int8 with a scale for each row, in an npz file that always has the same bytes.

A row of weights w becomes q = round(w / s) with s = max |w| / 127, stored as int8, and is read back as s q: the error
is at most s / 2. Vectors and small matrices are stored as they are.
"""

import hashlib
import io
import os
import zipfile
from collections.abc import Mapping

import numpy as np

from punc.base.errors import InputError
from punc.base.files import atomic_file, open_input, read_blocks

SMALL = 4096  # numbers; a matrix that has fewer is not quantized
SCALE = ".scale"  # the suffix of the array of a matrix's scales
EPOCH = (1980, 1, 1, 0, 0, 0)  # the time of every file in an archive


def write_arrays(path: str | os.PathLike, arrays: Mapping[str, np.ndarray]) -> None:
    """Write float arrays by name, matrices quantized. Equal arrays make equal files."""
    stored = {}
    for name, array in sorted(arrays.items()):
        array = np.ascontiguousarray(array, np.float32)
        if array.ndim == 2 and array.size >= SMALL:
            stored[name], stored[name + SCALE] = quantize(array)
        else:
            stored[name] = array
    with atomic_file(path, "wb") as file, zipfile.ZipFile(file, "w") as archive:
        for name, array in stored.items():
            content = io.BytesIO()
            np.lib.format.write_array(content, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(name + ".npy", EPOCH), content.getvalue())


def quantize(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """float32 (N, M) → int8 (N, M) and the scale of each row, float32 (N,)."""
    scale = np.abs(matrix).max(axis=1) / np.float32(127)
    rounded = np.rint(matrix / np.where(scale > 0, scale, 1)[:, None])
    return rounded.astype(np.int8), scale.astype(np.float32)


def read_arrays(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """The arrays that `write_arrays` wrote, as float32.

    Raises InputError if the file is missing or broken, or if a number in it is NaN or infinite.
    """
    again = "pack the model again: punc pack"
    with open_input(path, again) as content:  # says what is wrong if it cannot be read
        size = os.fstat(content.fileno()).st_size
    try:
        with zipfile.ZipFile(path) as archive:  # nothing is compressed, so nothing is larger than the file
            if any(file.compress_type != zipfile.ZIP_STORED or file.file_size > size for file in archive.filelist):
                raise ValueError("not what write_arrays writes")
        with np.load(path, allow_pickle=False) as arrays:
            stored = {name: arrays[name] for name in arrays.files}
        with np.errstate(invalid="ignore"):  # 0 times an infinite scale; the scale is named below
            found = {name: stored[name] * stored[name + SCALE][:, None] if name + SCALE in stored else stored[name]
                     for name in stored if not name.endswith(SCALE)}
        if any(array.dtype != np.float32 for array in found.values()):
            raise ValueError("not weights")
    except Exception:  # zipfile and np.load raise all kinds of them, depending on where the file is broken
        raise InputError("not an archive of arrays, or a truncated one", again, path) from None
    for name, array in stored.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():  # of a matrix, only the scales are floats
            raise InputError(f"{name} has weights that are NaN or infinite", again, path)
    return found


def checksum(path: str | os.PathLike) -> str:
    """The SHA-256 of a file. Raises InputError if it is missing."""
    digest = hashlib.sha256()
    for block in read_blocks(path):
        digest.update(block)
    return digest.hexdigest()
