"""The parts of a data directory, each prepared by one job, and the directory that is joined from them.

Each stream is whole in one part. A job numbers its streams from 1, because it does not know how many there are in the
parts before: the numbers grow when the parts are joined. Memory: a block of lines.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from punc.base.errors import InputError
from punc.base.files import decode_line, open_input, read_blocks
from punc.base.jobs import Part
from punc.data.archive_path import archive_path
from punc.data.datadir_writer import new_data_dir
from punc.data.kaldi_io import parse_location
from punc.data.label_record import RECORD
from punc.data.labels import LabelSet
from punc.data.turns import TURNS
from punc.text.cutter import padded

BLOCK = 1 << 20  # bytes
EVERY_FIELD = ("utt2spk", "spk2utt")  # each field is an id, not only the first one


def join_prepared(parts: Sequence[Part], out: Path, prefix: str, archive: str,
                  label_set: LabelSet | None = None) -> Counter[str]:
    """Join the parts to the data directory `out`, which is written whole or not at all; returns the sums of the counts.

    prefix   what the names of streams begin with, before their numbers
    archive  the path of pauses.ark that pauses.scp has
    label_set   of the labels, if there are labels

    Raises InputError if there are no utterances, or if a file of a part is missing.
    """
    numbered, before = [], 0
    counts: Counter[str] = Counter()
    for part in parts:
        if part.result["counts"].get("utterances"):
            numbered.append((part, before))
        before += part.result["numbers"]
        counts.update(part.result["counts"])
    if not numbered:
        raise InputError("no utterance to write", "check the input: it has no words", out)
    names = set(numbered[0][0].files())
    of_other_recordings = ["reco2file_and_channel"] if "segments" in names else []
    with new_data_dir(out, "punct", "pauses.scp", "pauses.ark", TURNS, *of_other_recordings) as tmp:
        for name in sorted(names - {"pauses.scp", "pauses.ark", RECORD}):
            with open(tmp / name, "wb") as file:
                for part, more in numbered:
                    file.writelines(renumbered(part.path / name, prefix, more, name in EVERY_FIELD))
        if "pauses.scp" in names:
            _join_pauses(numbered, tmp, prefix, archive)
        if label_set and "punct" in names:
            label_set.write(tmp / RECORD)
    return counts


def renumbered(path: Path, prefix: str, more: int, every_field: bool = False) -> Iterator[bytes]:
    """A table in blocks, with `more` added to the number after `prefix` in each line's id, or in every field."""
    if not more:
        yield from read_blocks(path, BLOCK)
        return
    with open_input(path) as file:
        while lines := file.readlines(BLOCK):
            yield _renumber(b"".join(lines), prefix, more, every_field)


def _renumber(lines: bytes, prefix: str, more: int, every_field: bool = False) -> bytes:
    """The lines with `more` added to the number after `prefix` in each line's id, or in every field."""
    begin = rb"(?:^|(?<= ))" if every_field else rb"^"
    number = re.compile(begin + re.escape(prefix.encode()) + rb"(\d{8,18})", re.MULTILINE)
    return number.sub(lambda id: prefix.encode() + padded(int(id[1]) + more).encode(), lines)


def _join_pauses(numbered: Sequence[tuple[Part, int]], tmp: Path, prefix: str, archive: str) -> None:
    """Join the archives of pauses, which have the ids too, and write their index."""
    archive = archive_path(archive)
    with open(tmp / "pauses.ark", "wb") as ark, open(tmp / "pauses.scp", "wb") as index:
        for part, more in numbered:
            with open_input(part.path / "pauses.ark") as source:
                for key, begin, end in _vectors(part.path / "pauses.scp", os.fstat(source.fileno()).st_size):
                    name = _renumber(key.encode(), prefix, more) if more else key.encode()
                    source.seek(begin)
                    ark.write(name + b" ")
                    index.write(b"%b %b:%d\n" % (name, archive.encode(), ark.tell()))
                    ark.write(source.read(end - begin))


def _vectors(index: Path, size: int) -> Iterator[tuple[str, int, int]]:
    """The id of each vector of an archive of `size` bytes, and where it begins and ends there."""
    last, begin = None, 0
    with open_input(index) as file:
        for number, line in enumerate(file, 1):
            key, _, place = decode_line(line, index, number).partition(" ")
            next_begin = parse_location(place, index, number)[1]
            if next_begin > size or (last is not None and next_begin - len(key.encode()) - 1 < begin):
                raise InputError(f"'{key}' is not in the archive after the one above", "run its job again", index,
                                 number)
            if last is not None:
                yield last, begin, next_begin - len(key.encode()) - 1
            last, begin = key, next_begin
    if last is not None:
        yield last, begin, size
