"""The lines of a CTM by utterance, recording or speaker of a Kaldi data directory.

All ids of a CTM are of one kind:

    with segments      recordings, or their files and channels (`reco2file_and_channel`);
                       or utterances, whose times count from their own start
    without segments   utterances, or their files and channels; or speakers
"""

from collections.abc import Iterator
from itertools import groupby, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.data.datadir import segment, speaker
from punc.data.tables import read_table
from punc.timing.fast_ctm import CtmFile, Run
from punc.timing.pauses import read_channels

UTTERANCE, RECORDING, SPEAKER = "utterance", "recording", "speaker"  # the kinds of ids of a CTM


class Entry(NamedTuple):
    """All that a CTM has under one id.

    id         the id of its line in the transcript's `text`
    recording  the recording that it is from
    runs       its lines in the CTM
    begin      where its times begin in the recording, in seconds
    length     its length in seconds; infinite if not known
    speakers   where segments of the recording begin, in order, and the speaker of each
    """

    id: str
    recording: str
    runs: list[Run]
    begin: float = 0.0
    length: float = np.inf
    speakers: tuple[list[float], list[str]] = ([0.0], [""])


class Tables(NamedTuple):
    """The tables of a data directory that a CTM needs.

    speakers   utterance → speaker
    segments   utterance → (recording, begin, end) in seconds; None if there is no file `segments`
    channels   (file, channel) → recording
    """

    speakers: dict[str, str]
    segments: dict[str, tuple[str, float, float]] | None
    channels: dict[tuple[str, str], str]


def read_tables(directory: Path) -> Tables:
    """Read `utt2spk` and, if they exist, `segments` and `reco2file_and_channel`. Raises InputError if they are bad."""
    if not directory.is_dir():
        raise InputError("no such data directory", "name the one that was decoded", directory)
    file, table, segments, channels = directory / "utt2spk", directory / "segments", None, {}
    speakers = {row.key: speaker(row, file) for row in read_table(file)}
    if not table.is_file():
        _check_speakers(speakers, file)
    if table.is_file():
        segments = {row.key: segment(row, table) for row in read_table(table)}
        for path, ids, other, other_ids in (table, segments, file, speakers), (file, speakers, table, segments):
            if missing := other_ids.keys() - ids.keys():
                raise InputError(f"no line for '{min(missing)}', which {other.name} has", "run utils/fix_data_dir.sh",
                                 path)
    if (directory / "reco2file_and_channel").is_file():
        of_recording = read_channels(directory / "reco2file_and_channel")
        channels = {file_and_channel: recording for recording, file_and_channel in of_recording.items()}
    return Tables(speakers, segments, channels)


def _check_speakers(speakers: dict[str, str], file: Path) -> None:
    """Raise InputError unless the utterances of each speaker are together: a speaker is one stream."""
    for number, (this, other) in enumerate(pairwise(speakers.values()), 2):
        if other.encode() < this.encode():
            raise InputError(f"speaker '{other}' comes after '{this}'",
                             "make speaker ids prefixes of utterance ids, and sort", file, number)


def read_entries(directory: Path, ctm: CtmFile) -> tuple[list[list[Entry]], bool]:
    """The entries of a CTM, stream by stream, and whether their times count from the start of segments.

    Utterances and recordings that are not in the CTM have entries without lines. Raises InputError for broken files,
    and for an id of the CTM that the data directory does not have, or that is of another kind than those before.
    """
    tables = read_tables(directory)
    kind, runs = _runs_by_name(tables, ctm, directory)
    return list(_streams(tables, kind, runs)), tables.segments is not None and kind == UTTERANCE


def _runs_by_name(tables: Tables, ctm: CtmFile, directory: Path) -> tuple[str, dict[str, list[Run]]]:
    """The kind of the CTM's ids, and the runs of each utterance, recording or speaker."""
    utterances, speakers = (UTTERANCE, tables.speakers.keys()), (SPEAKER, set(tables.speakers.values()))
    recordings = (RECORDING, {recording for recording, _, _ in (tables.segments or {}).values()})
    kinds = [utterances, speakers] if tables.segments is None else [recordings, utterances]
    kind = ""
    runs: dict[str, list[Run]] = {}
    for run in ctm.runs():
        name = tables.channels.get((run.id, run.channel), run.id)
        this = next((kind for kind, names in kinds if name in names), None)
        if this is None:
            raise InputError(f"'{run.id}' is neither {kinds[0][0]} nor {kinds[1][0]} of {directory}",
                             "name the data directory that was decoded", ctm.path, run.line)
        if this != (kind := kind or this):
            raise InputError(f"'{run.id}' is a {this}, but the ids above are {kind}s", "give all ids of one kind",
                             ctm.path, run.line)
        of_name = runs.setdefault(name, [])
        of_name.append(run)
        if (run.id, run.channel) != (of_name[0].id, of_name[0].channel):
            raise InputError(f"'{run.id}' has channels {of_name[0].channel} and {run.channel}",
                             "name the recording of each in reco2file_and_channel", ctm.path, run.line)
    return kind, runs


def _streams(tables: Tables, kind: str, runs: dict[str, list[Run]]) -> Iterator[list[Entry]]:
    """The entries of each stream in time order; the streams are in C order."""
    if tables.segments is None:
        for speaker, of_speaker in groupby(tables.speakers.items(), key=lambda item: item[1]):
            names = [speaker] if kind == SPEAKER else [utterance for utterance, _ in of_speaker]
            yield [Entry(name, name, runs.get(name, [])) for name in names]
        return
    order = sorted((recording.encode(), begin, id) for id, (recording, begin, _) in tables.segments.items())
    for key, of_recording in groupby(order, key=lambda item: item[0]):
        recording, segments = key.decode(), [(begin, id) for _, begin, id in of_recording]
        if kind == RECORDING:
            speakers = [begin for begin, _ in segments], [tables.speakers[id] for _, id in segments]
            yield [Entry(recording, recording, runs.get(recording, []), speakers=speakers)]
        else:
            yield [Entry(id, recording, runs.get(id, []), begin, tables.segments[id][2] - begin,
                         ([0.0], [tables.speakers[id]])) for begin, id in segments]
