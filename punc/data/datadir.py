"""Reads and writes data directories as streams of utterances.

The files are `text`, `utt2spk`, `spk2utt` and, optionally, `punct`, `pauses.scp`, `turns` and `segments`. For each
word, `punct` contains one label, `pauses.scp` one pause, and `turns` one flag. With `segments`, a stream is a
recording, and its utterances are in time order. Without `segments`, a stream is a speaker, and its utterances are in id
order. At most one stream is in memory.
"""

import hashlib
import shutil
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from itertools import chain, groupby, zip_longest
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from punc.base.errors import InputError, StrPath
from punc.base.files import atomic_dir, decode_line, open_input, read_blocks, unchanged
from punc.data.kaldi_io import VectorReader, archive_path, write_vector
from punc.data.labels import RECORD, LabelSet
from punc.data.tables import TURNS, Row, fields, line_offsets, parse_turns, read_table, sort_table, turns_line

LATEST = 1e9  # s; all times in a recording are below this maximum (30 years)
MISSING = {"punct": "labels are needed: punc prepare makes them",
           "pauses.scp": "pauses are needed: punc pauses makes them"}


class Utterance(NamedTuple):
    """The words of an utterance and, if known, what is in the slot after each word."""

    id: str
    stream: str  # the id of the recording (from `segments`) or speaker (from `utt2spk`)
    words: list[str]
    labels: list[str] | None = None  # one label name per word
    pauses: np.ndarray | None = None  # float32 (words,), seconds after each word; NaN: unknown
    turns: np.ndarray | None = None  # bool (words,), whether another speaker says the next word
    times: tuple[float, float] | None = None  # begin and end in the recording, in seconds


class DataDir:
    """A data directory on disk. Files to `ignore` (`punct`, `pauses.scp`, `turns`) are treated as missing. Raises
    InputError if `text`, `utt2spk` or one of the files in `needs` (`punct`, `pauses.scp`) is missing."""

    def __init__(self, path: StrPath, ignore: Iterable[str] = (), needs: Iterable[str] = ()):
        self.path = Path(path)
        if not self.path.is_dir():
            if self.path.is_file():
                raise InputError("this is a file, not a data directory", "punc transcript punctuates files", path)
            raise InputError("no such data directory", "make it with punc prepare, or give another one", path)
        for name in ("text", "utt2spk", *needs):
            if not (self.path / name).is_file():
                remedy = MISSING.get(name, "a data directory has text and utt2spk")
                raise InputError("no such file", remedy, self.path / name)
        optional = ("punct", "pauses.scp", TURNS, "segments")
        # The tables to read. Each has one line per utterance.
        self.tables = ["text", "utt2spk",
                       *(name for name in optional if name not in ignore and (self.path / name).is_file())]
        self.has_labels, self.has_pauses, self.has_turns, self.has_segments = (
            name in self.tables for name in optional)
        self._segments, self._speakers = self.path / "segments", self.path / "utt2spk"

    def utterances(self) -> Iterator[Utterance]:
        """Yield the utterances stream by stream, in time or id order. Raises InputError for invalid bytes, unsorted
        tables or speakers, and tables with different ids or different numbers of words, labels, pauses or flags."""
        rows = self._rows_by_time() if self.has_segments else self.rows()
        with unchanged(self.path / "text"), VectorReader(self.path / "pauses.scp") as vectors:
            last = ""
            for row in rows:
                utterance = self.utterance(row, vectors)
                if utterance.stream != last and not self.has_segments:
                    if utterance.stream.encode() <= last.encode():
                        raise InputError(f"speaker '{utterance.stream}' comes after '{last}'",
                                         "make speaker ids prefixes of utterance ids, and sort",
                                         self.path / "utt2spk", row["utt2spk"].line)
                    last = utterance.stream
                yield utterance

    def streams(self) -> Iterator[tuple[str, list[Utterance]]]:
        """Yield each stream's id and its utterances, in the same order as `utterances`."""
        for stream, utterances in groupby(self.utterances(), key=lambda utterance: utterance.stream):
            yield stream, list(utterances)

    def rows(self) -> Iterator[dict[str, Row]]:
        """Yield a dictionary (table → row) for each utterance, in C-locale order. Raises InputError if two tables have
        different ids."""
        names = self.tables
        for rows in zip_longest(*(read_table(self.path / name) for name in names)):
            keys = {row.key for row in rows if row}
            if len(keys) > 1 or None in rows:
                raise self._difference(names, rows, min(keys, key=str.encode))
            yield dict(zip(names, rows))

    def _difference(self, names: Sequence[str], rows: Sequence[Row | None], key: str) -> InputError:
        for name in names:
            deque(read_table(self.path / name), maxlen=0)  # raises an InputError if the table is unsorted
        name, row = next((n, r) for n, r in zip(names, rows) if not r or r.key != key)
        other = next(n for n, r in zip(names, rows) if r and r.key == key)
        return InputError(f"no line for '{key}', which {other} has", "give every utterance one line in every table",
                          self.path / name, row.line if row else None)

    def _rows_by_time(self) -> Iterator[dict[str, Row]]:
        """Yield the same as `rows`, but sorted by recording and begin time. A first pass, with `rows`, checks that line
        i has the same id in all tables."""
        order, names = [], self.tables
        for i, row in enumerate(self.rows()):
            recording, begin, _ = segment(row["segments"], self.path / "segments")
            order.append((recording.encode(), begin, i))
        order.sort()
        offsets = {name: line_offsets(self.path / name) for name in names}
        with ExitStack() as stack:
            files = {name: stack.enter_context(open_input(self.path / name)) for name in names}
            for _, _, i in order:
                rows = {}
                for name, file in files.items():
                    file.seek(offsets[name][i])
                    line = decode_line(file.readline(), self.path / name, i + 1)
                    key, _, value = line.replace("\t", " ", 1).partition(" ")
                    rows[name] = Row(i + 1, key, value)
                yield rows

    def utterance(self, rows: dict[str, Row], vectors: VectorReader) -> Utterance:
        """Make an utterance from its row in each table. Raises InputError unless there are as many labels, pauses
        and flags as words."""
        text = rows["text"]
        words = fields(text.value)
        labels = pauses = turns = times = None
        if self.has_labels:
            labels = fields(rows["punct"].value)
            self._check_count(text.key, len(words), len(labels), "labels", "punct", rows["punct"].line)
        if self.has_pauses:
            pauses = vectors.read(rows["pauses.scp"].value, rows["pauses.scp"].line)
            self._check_count(text.key, len(words), len(pauses), "pauses", "pauses.scp", rows["pauses.scp"].line)
        if self.has_turns:
            turns = parse_turns(rows[TURNS], self.path / TURNS)
            self._check_count(text.key, len(words), len(turns), "flags", TURNS, rows[TURNS].line)
        if self.has_segments:
            stream, begin, end = segment(rows["segments"], self._segments)
            times = begin, end
        else:
            stream = speaker(rows["utt2spk"], self._speakers)
        return Utterance(text.key, stream, words, labels, pauses, turns, times)

    def _check_count(self, utterance: str, words: int, count: int, what: str, name: str, line: int) -> None:
        if words != count:
            raise InputError(f"'{utterance}' has {words} words in text but {count} {what} here",
                             f"write as many {what} as words", self.path / name, line)


def speaker(row: Row, path: StrPath) -> str:
    """Return the speaker in a row of `utt2spk`. Raises InputError unless the row has exactly one."""
    value = row.value.strip(" \t")
    if not value or " " in value or "\t" in value:
        raise InputError(f"'{row.key}' does not have one speaker", "write UTTERANCE SPEAKER", path, row.line)
    return value


def segment(row: Row, path: StrPath) -> tuple[str, float, float]:
    """Return the recording, begin and end (in seconds) in a row of `segments`. Raises InputError for an invalid row."""
    try:
        recording, begin, end = fields(row.value)
        times = float(begin), float(end)
        if not 0 <= times[0] < times[1] < LATEST:
            raise ValueError
    except ValueError:
        raise InputError("the line is not a segment",
                         "write UTTERANCE RECORDING BEGIN END, with 0 ≤ BEGIN < END in seconds",
                         path, row.line) from None
    return recording, *times


def label_numbers(utterances: Sequence[Utterance], labels: LabelSet, path: StrPath) -> np.ndarray:
    """Return the label numbers of all slots, int64. Raises InputError, which names `path`, for an unknown label."""
    try:
        return np.fromiter(map(labels.index, chain.from_iterable(u.labels or () for u in utterances)), np.int64)
    except KeyError:
        known = set(labels.names)
        id, name = next((u.id, name) for u in utterances for name in u.labels or () if name not in known)
        raise InputError(f"utterance '{id}' has label '{name}', which is not in the label set",
                         "give the --labels that it was made with", Path(path) / "punct") from None


def checksum(path: StrPath) -> str:
    """Return 12 hex digits of a hash of a data directory's words, labels and pauses, on which its scores depend."""
    data = DataDir(path)
    digest = hashlib.sha256()
    for name in ("text", "punct") if data.has_labels else ("text",):
        for block in read_blocks(data.path / name):
            digest.update(block)
    if data.has_pauses:
        with VectorReader(data.path / "pauses.scp") as vectors:
            for row in read_table(data.path / "pauses.scp"):
                digest.update(row.key.encode() + vectors.read(row.value, row.line).tobytes())
    return digest.hexdigest()[:12]


def write_data_dir(path: StrPath, utterances: Iterable[Utterance], like: DataDir | None = None,
                   label_set: LabelSet | None = None) -> None:
    """Write a data directory, completely or not at all. One utterance at a time is in memory.

    Without `like`, streams are speakers, and ids and streams must be sorted in C-locale order. With `like`, the
    speakers and segments of that directory are copied. The utterances must then have its ids and be in its order, which
    is not fully checked. Labels, pauses and turns must each be given for all utterances or for none. `label_set` is
    recorded in RECORD.

    Raises ValueError if utterances break a rule that is checked, and InputError if there are no utterances.
    """
    with new_data_dir(path, "punct", "pauses.scp", "pauses.ark", TURNS) as tmp:
        write_utterances(tmp, Path(path), utterances, like is None or not like.has_segments)
        if like:
            complete_tables(tmp, like)
        if label_set:
            label_set.write(tmp / RECORD)


def new_data_dir(path: StrPath, *stale: str) -> AbstractContextManager[Path]:
    """Yield a temporary directory. Its files move into the data directory `path` when the block ends; see `atomic_dir`.
    `stale` names optional tables, which are removed if they are not written again."""
    return atomic_dir(path, "text", (*stale, RECORD))


def complete_tables(tmp: Path, like: DataDir) -> None:
    """Copy the speakers and segments of `like` into `tmp`. If there are segments, sort the other tables in `tmp`, which
    were written in time order."""
    for name in ("utt2spk", "spk2utt", "segments", "wav.scp", "reco2file_and_channel"):
        if (like.path / name).is_file():
            shutil.copyfile(like.path / name, tmp / name)
    for name in ("text", "punct", "pauses.scp", TURNS) if like.has_segments else ():
        if (tmp / name).is_file():
            sort_table(tmp / name)


def write_utterances(tmp: Path, path: Path, utterances: Iterable[Utterance], ordered: bool = True) -> None:
    """Write the tables of utterances to `tmp`. They will move to `path`, so `pauses.scp` refers to an archive there. If
    `ordered`, ids and streams must be in C-locale order."""
    last: Utterance | None = None
    with ExitStack() as stack:
        files: dict[str, IO[bytes]] = {}
        for this in utterances:
            if last is None:
                names = ["text", "utt2spk", "spk2utt", *(["punct"] if this.labels is not None else []),
                         *(["pauses.scp", "pauses.ark"] if this.pauses is not None else []),
                         *([TURNS] if this.turns is not None else [])]
                archive = archive_path(path / "pauses.ark") if this.pauses is not None else ""
                files = {name: stack.enter_context(open(tmp / name, "wb")) for name in names}
            _check_next(last, this, files, ordered)
            key = this.id.encode()
            stream = this.stream.encode()
            files["text"].write(" ".join((this.id, *this.words)).encode() + b"\n")
            files["utt2spk"].write(b"%b %b\n" % (key, stream))
            if last is None or last.stream != this.stream:
                files["spk2utt"].write((b"" if last is None else b"\n") + stream)
            files["spk2utt"].write(b" " + key)
            if this.labels is not None:
                files["punct"].write(" ".join((this.id, *this.labels)).encode() + b"\n")
            if this.pauses is not None:
                offset = write_vector(files["pauses.ark"], this.id, this.pauses)
                files["pauses.scp"].write(f"{this.id} {archive}:{offset}\n".encode())
            if this.turns is not None:
                files[TURNS].write(turns_line(this.id, this.turns))
            last = this
        if last is None:
            raise InputError("there are no utterances to write", "check the input: it has no words", path)
        files["spk2utt"].write(b"\n")


def _check_next(last: Utterance | None, this: Utterance, tables: Iterable[str], ordered: bool) -> None:
    if ordered and last is not None and this.id.encode() <= last.id.encode():
        raise ValueError(f"utterance '{this.id}' after '{last.id}': not sorted and unique")
    if ordered and last is not None and this.stream != last.stream and this.stream.encode() <= last.stream.encode():
        raise ValueError(f"stream '{this.stream}' after '{last.stream}': not sorted and unique")
    known = {"punct": this.labels, "pauses.scp": this.pauses, TURNS: this.turns}
    if any((values is not None) != (name in tables) for name, values in known.items()):
        raise ValueError(f"'{this.id}': labels, pauses and turns are for all utterances or none")
    if any(values is not None and len(values) != len(this.words) for values in known.values()):
        raise ValueError(f"'{this.id}': not one label, pause and flag of a turn per word")
