"""What a CTM has of a Kaldi data directory: utterances, recordings or speakers.

All ids of a CTM are of one kind:

    with segments      recordings, or their files and channels (`reco2file_and_channel`);
                       or utterances, whose times count from their own start
    without segments   utterances, or their files and channels; or speakers
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.data.datadir import segment, speaker
from punc.data.tables import read_table
from punc.timing.pauses import read_channels
from punc.transcripts.ctm import CtmIndex

UTTERANCE, RECORDING, SPEAKER = "utterance", "recording", "speaker"  # the kinds of ids of a CTM


class Entry(NamedTuple):
    """All that a CTM has under one id.

    id         the id of its line in the transcript's `text`
    recording  the recording that it is from
    place      the id and the channel of its lines in the CTM; empty for a channel that is not named
    channels   all channels of this id that are recordings
    begin      where its times begin in the recording, in seconds
    length     its length in seconds; infinite if not known
    speakers   where segments of the recording begin, in order, and the speaker of each
    """

    id: str
    recording: str
    place: tuple[str, str]
    channels: frozenset[str] = frozenset()
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


def read_entries(tables: Tables, ctm: CtmIndex, directory: Path) -> list[list[Entry]]:
    """The entries of a CTM, stream by stream; utterances and recordings that are not in it have entries, too.

    Raises InputError for an id that the data directory does not have, or that is of another kind than those before.
    """
    return list(_streams(tables, _kind_of_ids(tables, ctm, directory)))


def _kind_of_ids(tables: Tables, ctm: CtmIndex, directory: Path) -> str:
    """The kind of the CTM's ids. Raises InputError for ids of several kinds, or of none."""
    utterances, speakers = set(tables.speakers), set(tables.speakers.values())
    recordings = {recording for recording, _, _ in (tables.segments or {}).values()}
    files = {file for (file, _), name in tables.channels.items() if name in recordings | utterances}
    kinds = {UTTERANCE: utterances | files, SPEAKER: speakers} if tables.segments is None else {
        RECORDING: recordings | files, UTTERANCE: utterances}
    chosen = ""
    for id in ctm:
        found = next((kind for kind, names in kinds.items() if id in names), "")
        if not found:
            first, second = kinds
            raise InputError(f"'{id}' is neither {first} nor {second} of {directory}",
                             "name the data directory that was decoded", *ctm.where(id))
        chosen = chosen or found
        if found != chosen:
            raise InputError(f"'{id}' is a {found}, but the ids above are {chosen}s", "give all ids of one kind",
                             *ctm.where(id))
    return chosen


def _streams(tables: Tables, kind: str) -> Iterator[list[Entry]]:
    """The entries of each stream in time order; the streams are in C order."""
    places, channels = {}, defaultdict[str, set[str]](set)
    for (file, channel), name in tables.channels.items():
        places[name] = file, channel
        channels[file].add(channel)
    if tables.segments is None:
        for name, of_speaker in groupby(tables.speakers.items(), key=lambda item: item[1]):
            names = [name] if kind == SPEAKER else [utterance for utterance, _ in of_speaker]
            for_each = [(one, places.get(one, (one, ""))) for one in names]
            yield [Entry(one, one, place, frozenset(channels[place[0]] if one in places else ()),
                         speakers=([0.0], [name])) for one, place in for_each]
        return
    order = sorted((recording.encode(), begin, id) for id, (recording, begin, _) in tables.segments.items())
    for key, of_recording in groupby(order, key=lambda item: item[0]):
        recording, segments = key.decode(), [(begin, id) for _, begin, id in of_recording]
        if kind == RECORDING:
            speakers = [begin for begin, _ in segments], [tables.speakers[id] for _, id in segments]
            place = places.get(recording, (recording, ""))
            known = frozenset(channels[place[0]] if recording in places else ())
            yield [Entry(recording, recording, place, known, speakers=speakers)]
        else:
            yield [Entry(id, recording, (id, ""), frozenset(), begin, tables.segments[id][2] - begin,
                         ([0.0], [tables.speakers[id]])) for begin, id in segments]
