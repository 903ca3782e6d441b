"""Soft targets: the posteriors of a teacher for the slots of a set of a store, as training reads them.

    DIR/targets.npy   float16 (N, L): the distribution over labels in the slot after each token; zeros if it has no slot
    DIR/conf          lines: the set, the CRC-32 of its files, the labels, and the inputs

The teacher has punctuated the data directories of the set (`punc punctuate`). For every model a slot is after a word,
so the teacher can have other tokens and another vocabulary. What it has punctuated are the words of the set if they are
the same tokens to the student; if not, that is an error.
"""

import contextlib
import logging
import os
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import IO

import numpy as np

from punc.base.errors import InputError, one_line
from punc.base.files import atomic_dir, open_input, read_lines, unchanged
from punc.data.datadir import DataDir, Utterance
from punc.data.kaldi_io import read_posteriors
from punc.data.labels import LabelSet
from punc.tokens.store import LONGEST_PATH, Store, crc32_of
from punc.tokens.vocabulary import END

logger = logging.getLogger(__name__)
TARGETS = "targets.npy"
BATCH = 1 << 16  # rows that are checked at a time
SUMMED = ("ids.npy", "index")  # the files of a set that say which words it has
AGAIN = "make the soft targets again: punc soft-targets"


def make_targets(out: Path, store: Store, name: str, labels: LabelSet, decoded: Sequence[Path]) -> None:
    """Write the soft targets of a set of a store. One utterance is in memory.

    labels    the teacher's label set
    decoded   the data directories of the set as the teacher has punctuated them, with post.ark; of a joined set those
              of its members, in order

    Does nothing if they are finished and neither the set nor the inputs have changed. Raises InputError if the labels
    are not those of the store, or if the words are not those of the set.
    """
    if labels != store.labels:
        raise InputError("the teacher's labels.txt is not that of the store",
                         "make the store with --labels of the teacher", store.path / "labels.txt")
    conf = _conf(store, name, decoded)
    if (out / "conf").is_file() and (out / "conf").read_bytes() == conf.encode():
        logger.info("%s: finished, and its inputs have not changed", out)
        return
    if out.exists() and not (out / TARGETS).is_file() and any(file.name[0] != "." for file in out.iterdir()):
        raise InputError("this exists and has no soft targets", "name another OUT-DIR", out)
    with atomic_dir(out, "conf", [TARGETS]) as tmp:
        with open(tmp / TARGETS, "wb") as file, open_input(store.path / name / "ids.npy") as ids:
            np.lib.format.write_array_header_1_0(file, {
                "descr": "<f2", "fortran_order": False, "shape": (len(store.set(name).ids), len(labels))})
            writer = _Writer(file, ids, store, name)
            for directory in decoded:
                writer.write(directory)
            writer.end(decoded[-1])
        (tmp / "conf").write_text(conf, encoding="utf-8")
        size = (tmp / TARGETS).stat().st_size
    logger.info("%s: %d words of '%s', %.1f MB", out, writer.words, name, size / 1e6)


def read_targets(directory: Path, store: Store, name: str) -> np.ndarray:
    """The soft targets of a set, float16 (N, L), memory-mapped.

    Raises InputError if there are none, if they are of another set, or of other words or labels, and if a number is no
    probability.
    """
    lines = [line for _, line in read_lines(directory / "conf")] if (directory / "conf").is_file() else []
    if not lines or not (directory / TARGETS).is_file():
        raise InputError("no soft targets", "make them: punc soft-targets", directory)
    if lines != _facts(store, name):
        raise InputError(f"not the soft targets of '{name}' in {store.path}, or its words have changed", AGAIN,
                         directory / "conf")
    shape = len(store.set(name).ids), len(store.labels)
    targets: np.ndarray | None = None
    with contextlib.suppress(Exception):  # np.load raises all kinds of them, depending on where the file is broken
        loaded = np.load(directory / TARGETS, mmap_mode="r")
        targets = loaded if loaded.dtype == np.float16 and loaded.shape == shape else None
    if targets is None:
        raise InputError("not the soft targets of this set, or truncated", AGAIN, directory / TARGETS)
    _check_targets(targets, directory / TARGETS)
    return targets


def _check_targets(targets: np.ndarray, path: Path) -> None:
    """Raise InputError for a number that is NaN, negative or infinite."""
    for begin in range(0, len(targets), BATCH):
        part = targets[begin:begin + BATCH]
        if part.size and not (part.min() >= 0 and part.max() < np.inf):  # the least of NaN and others is NaN
            bad = begin + int(np.flatnonzero(~((part >= 0) & (part < np.inf)).all(1))[0])
            raise InputError(f"the targets of token {bad} are no probabilities", AGAIN, path)


def targets_checksum(directory: Path, store: Store) -> dict[str, int]:
    """The CRC-32 of soft targets, by their name relative to the store, next to its own checksums."""
    path = directory / TARGETS
    return {os.path.relpath(path, store.path): crc32_of(path)}


def _facts(store: Store, name: str) -> list[str]:
    """What soft targets have to fit: the set, the CRC-32 of its files, and the names of the labels."""
    sums = store.checksums([name])
    return [f"--set={name}", *(f"--{file}={sums.get(f'{name}/{file}')}" for file in SUMMED),
            f"--labels={','.join(store.labels.names)}"]


def _conf(store: Store, name: str, decoded: Sequence[Path]) -> str:
    """The conf; the inputs are in comments, with their sizes and times."""
    lines = _facts(store, name)
    for directory in decoded:
        for file in ("post.ark", "text"):
            path = directory / file
            if not path.is_file():
                raise InputError("no such file", "punctuate the data directory with the teacher: punc punctuate", path)
            state = os.stat(path)
            lines.append(f"# {one_line(os.path.abspath(path), LONGEST_PATH)} {state.st_size} bytes "
                         f"{state.st_mtime_ns}")
    return "\n".join(lines) + "\n"


class _Writer:
    """Appends the rows of streams to a file, and compares their words with those of the set.

    words   how many words were written
    """

    def __init__(self, out: IO[bytes], ids: IO[bytes], store: Store, name: str):
        self._out, self._ids, self._store, self._name = out, ids, store, name
        data = store.set(name)
        self._streams = zip(data.streams, np.diff(data.offsets).tolist())
        ids.seek(data.ids.offset)  # type: ignore[attr-defined]  # pages of a mapped array would count as this process's
        self.words = 0

    def write(self, directory: Path) -> None:
        """Append all streams of a punctuated data directory."""
        with unchanged(directory / "text"):
            for stream, rows in groupby(_rows(directory, len(self._store.labels)), key=lambda row: row[0].stream):
                expected, left = next(self._streams, ("", 0))
                if stream != expected:
                    raise self._differs(f"stream '{stream}' where the set has '{expected}'", directory)
                for utterance, matrix in rows:
                    left = self._write_rows(utterance, matrix, left, directory)
                if left:
                    raise self._differs(f"stream '{stream}' ends early", directory)

    def end(self, directory: Path) -> None:
        """Raise InputError if the set has more streams."""
        if left := next(self._streams, None):
            raise self._differs(f"no stream '{left[0]}'", directory)

    def _write_rows(self, utterance: Utterance, matrix: np.ndarray, left: int, directory: Path) -> int:
        """Append the rows of the tokens of an utterance. Returns how many tokens of `left` are then left of its stream.
        """
        ids, slots, _ = self._store.tokenizer.encode(utterance.words)
        if len(ids) == left and self._store.tokenizer.ends_with_end:
            ids[-1:] = END
        if len(ids) > left or not np.array_equal(ids, np.fromfile(self._ids, np.int32, len(ids))):
            raise self._differs(f"the words of '{utterance.id}'", directory)
        rows = np.zeros((len(ids), len(self._store.labels)), "<f2")
        rows[slots] = matrix
        self._out.write(rows.data)
        self.words += len(matrix)
        return left - len(ids)

    def _differs(self, what: str, directory: Path) -> InputError:
        return InputError(f"{what}: not as in the set '{self._name}'",
                          "name what the teacher made of the data directories of that set, in their order", directory)


def _rows(directory: Path, labels: int) -> Iterator[tuple[Utterance, np.ndarray]]:
    """The utterances of a punctuated data directory, each with the posteriors of its slots (words, labels)."""
    archive = directory / "post.ark"
    posteriors = read_posteriors(archive)
    for utterance in DataDir(directory, ignore=("punct", "pauses.scp")).utterances():
        shape = len(utterance.words), labels
        key, matrix = next(posteriors, ("", np.zeros(0)))
        if key != utterance.id or matrix.size != shape[0] * shape[1]:  # without words there are no columns either
            raise InputError(f"no posteriors of {labels} labels for the {shape[0]} words of '{utterance.id}'",
                             "punctuate again with this teacher: punc punctuate", archive)
        yield utterance, matrix.reshape(shape)

