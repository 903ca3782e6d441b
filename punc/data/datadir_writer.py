"""Writes data directories, whole or not at all."""

import os
import shutil
from collections.abc import Iterable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import IO

from punc.base.errors import InputError
from punc.base.files import atomic_dir
from punc.data.datadir import DataDir, Utterance
from punc.data.kaldi_io import archive_path, write_vector
from punc.data.labels import RECORD, LabelSet
from punc.data.tables import TURNS, sort_table, turns_line


def write_data_dir(path: str | os.PathLike, utterances: Iterable[Utterance], like: DataDir | None = None,
                   label_set: LabelSet | None = None) -> None:
    """Write a data directory, whole or not at all; one utterance is in memory. Raises InputError if there is none.

    Without `like`, the streams are the speakers, and ids and streams come sorted in C order. With `like`, the
    utterances are those of `like` in its order, and speakers and segments are copied from it. All utterances have
    labels, or none; the same holds for pauses and turns. Raises ValueError otherwise.
    """
    with new_data_dir(path, "punct", "pauses.scp", "pauses.ark", TURNS) as tmp:
        write_utterances(tmp, Path(path), utterances, like is None or not like.has_segments)
        if like:
            complete_tables(tmp, like)
        if label_set:
            label_set.write(tmp / RECORD)


def new_data_dir(path: str | os.PathLike, *stale: str) -> AbstractContextManager[Path]:
    """A directory that replaces the data directory `path` when the block ends; `stale` as in `atomic_dir`. `text` goes
    first and comes last: no program reads a data directory without it."""
    return atomic_dir(path, "text", (*stale, RECORD))


def complete_tables(tmp: Path, like: DataDir) -> None:
    """Copy speakers and segments of `like` into `tmp`; sort the tables there, which are in the order of `like`."""
    for name in ("utt2spk", "spk2utt", "segments", "wav.scp", "reco2file_and_channel"):
        if (like.path / name).is_file():
            shutil.copyfile(like.path / name, tmp / name)
    for name in ("text", "punct", "pauses.scp", TURNS) if like.has_segments else ():
        if (tmp / name).is_file():
            sort_table(tmp / name)


def write_utterances(tmp: Path, path: Path, utterances: Iterable[Utterance], ordered: bool = True) -> None:
    """Write utterances, which are `ordered` under LC_ALL=C, to tables of `path`, into `tmp`, which will replace it."""
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
            raise InputError("no utterance to write", "check the input: it has no words", path)
        files["spk2utt"].write(b"\n")


def _check_next(last: Utterance | None, this: Utterance, tables: Iterable[str], ordered: bool) -> None:
    """Raise ValueError if the utterance `this` cannot be written after `last` to these tables."""
    if ordered and last is not None and this.id.encode() <= last.id.encode():
        raise ValueError(f"utterance '{this.id}' after '{last.id}': not sorted and unique")
    if ordered and last is not None and this.stream != last.stream and this.stream.encode() <= last.stream.encode():
        raise ValueError(f"stream '{this.stream}' after '{last.stream}': not sorted and unique")
    known = {"punct": this.labels, "pauses.scp": this.pauses, TURNS: this.turns}
    if any((values is not None) != (name in tables) for name, values in known.items()):
        raise ValueError(f"'{this.id}': labels, pauses and turns are for all utterances or none")
    if any(values is not None and len(values) != len(this.words) for values in known.values()):
        raise ValueError(f"'{this.id}': not one label, pause and flag of a turn per word")
