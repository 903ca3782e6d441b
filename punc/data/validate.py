"""Checks whether a data directory meets all requirements of `DataDir` and Kaldi's `utils/validate_data_dir.sh`.

As in Kaldi, an utterance may have no words, because a recogniser may recognise none.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

import numpy as np

from punc.base.errors import InputError, StrPath
from punc.base.files import open_input, unchanged
from punc.data.datadir import DataDir, Utterance, segment, speaker
from punc.data.kaldi_io import VectorReader
from punc.data.labels import LabelSet, check_record
from punc.data.tables import FORBIDDEN, Row, fields, read_table

BLANKS = re.compile(r"[^\S \t]")


def validate(path: StrPath, labels: LabelSet | None = None) -> Counter:
    """Check a data directory. If `labels` is given, also check that all labels belong to this set. Return counts
    of streams, utterances, words, and empty utterances. Raises InputError for the first mistake."""
    data = DataDir(path, needs=["punct"] if labels else [])
    counts: Counter[str] = Counter()
    for name in [*data.tables, "spk2utt"]:
        check_end(data.path / name)
    if labels:
        check_record(path, labels)
    last = ""
    recordings: set[str] = set()
    with unchanged(data.path / "text"), VectorReader(data.path / "pauses.scp") as vectors:
        for rows in data.rows():
            utterance = data.utterance(rows, vectors)
            check_words(utterance, rows["text"], data.path / "text")
            if labels:
                check_labels(utterance, rows["punct"], data.path / "punct", labels)
            if utterance.pauses is not None:
                check_pauses(utterance.id, utterance.pauses, rows["pauses.scp"], data.path / "pauses.scp")
            spk = check_speaker(rows["utt2spk"], last, data.path / "utt2spk")
            counts["streams"] += spk != last and not data.has_segments
            counts["utterances"] += 1
            counts["words"] += len(utterance.words)
            counts["empty utterances"] += not utterance.words
            last = spk
            if data.has_segments:
                recordings.add(segment(rows["segments"], data.path / "segments")[0])
    check_spk2utt(data.path)
    check_recordings(data, recordings)
    counts["streams"] += len(recordings)
    return counts


def check_end(path: Path) -> None:
    """Raise InputError if a file is missing or empty, or its last line has no newline."""
    with open_input(path) as file:
        if not file.seek(0, os.SEEK_END):
            raise InputError("the file is empty", "make it again", path)
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            file.seek(0)
            raise InputError("the last line has no end: the file may be truncated", "make it again, or add a newline",
                             path, sum(1 for _ in file))


def check_words(utterance: Utterance, row: Row, path: Path) -> None:
    if blank := BLANKS.search(row.value):
        raise InputError(f"whitespace U+{ord(blank[0]):04X} in '{utterance.id}'", "write spaces", path, row.line)
    if symbol := FORBIDDEN.search(row.value) if "<" in row.value or "#" in row.value else None:
        raise InputError(f"'{symbol[0]}' in '{utterance.id}', which Kaldi reserves", "write another word",
                         path, row.line)


def check_labels(utterance: Utterance, row: Row, path: Path, labels: LabelSet) -> None:
    if unknown := set(utterance.labels or ()).difference(labels.names):
        raise InputError(f"label '{min(unknown)}' of '{utterance.id}' is not in the label set",
                         f"use one of {' '.join(labels.names)}, or add it to the set", path, row.line)


def check_pauses(id: str, pauses: np.ndarray, row: Row, path: Path) -> None:
    wrong = np.flatnonzero((pauses < 0) | np.isinf(pauses))
    if len(wrong):
        raise InputError(f"pause {pauses[wrong[0]]:g} after word {wrong[0] + 1} of '{id}'",
                         "write seconds, 0 or more, or NaN if it is unknown", path, row.line)


def check_speaker(row: Row, last: str, path: Path) -> str:
    """Return the speaker in a row of `utt2spk`. Raises InputError unless the utterance's id is the speaker or begins
    with `SPEAKER-`. Also raises InputError if the speaker sorts before `last`, the previous row's speaker."""
    spk = speaker(row, path)
    if spk != row.key and not row.key.startswith(spk + "-"):
        raise InputError(f"speaker '{spk}' is not a prefix of utterance '{row.key}'",
                         "name utterances SPEAKER-…, or make the utterance its own speaker", path, row.line)
    if spk.encode() < last.encode():
        raise InputError(f"speaker '{spk}' comes after '{last}'",
                         "name speakers so that utt2spk is also sorted by speaker", path, row.line)
    return spk


def check_spk2utt(path: Path) -> None:
    """Raise InputError unless `spk2utt` is the inverse of `utt2spk`, in the same order."""
    def listed() -> Iterator[tuple[str, str, int]]:
        for row in read_table(path / "spk2utt"):
            for utterance in fields(row.value):
                yield utterance, row.key, row.line

    for row, inverse in zip_longest(read_table(path / "utt2spk"), listed()):
        if not row or not inverse or (row.key, speaker(row, path / "utt2spk")) != inverse[:2]:
            which = f"'{row.key}', line {row.line}" if row else "its end"
            raise InputError(f"differs from the inverse of utt2spk at {which}",
                             "make it again: utils/utt2spk_to_spk2utt.pl utt2spk > spk2utt",
                             path / "spk2utt", inverse[2] if inverse else None)


def check_recordings(data: DataDir, recordings: set[str]) -> None:
    """Raise InputError if `wav.scp` or `reco2file_and_channel` exists but does not list exactly the recordings in
    `segments` or, without `segments`, the utterances in `text`. Also raise InputError if there are `segments` but no
    `wav.scp`, which Kaldi then needs."""
    wav = data.path / "wav.scp"
    channels = data.path / "reco2file_and_channel"
    if data.has_segments and not wav.is_file():
        raise InputError("no such file", "Kaldi needs it with segments: write RECORDING FILE lines", wav)
    for path in (wav, channels):
        if not path.is_file():
            continue
        wanted = sorted(recordings, key=str.encode) if data.has_segments else (
            row.key for row in read_table(data.path / "text"))
        for row, key in zip_longest(read_table(path), wanted):
            if not row or row.key != key:
                other = "segments" if data.has_segments else "text"
                raise InputError(f"'{row.key if row else key}' is missing either here or in {other}",
                                 "give every recording one line", path, row.line if row else None)
            if path == channels and (len(row.value.split()) != 2 or row.value.split()[1] not in ("A", "B", "1")):
                raise InputError("not a channel", "write RECORDING FILE A, or B", path, row.line)
