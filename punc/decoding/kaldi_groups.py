"""Reads the words of a Kaldi data directory, or of its CTM, as transcripts of complete streams.

As in `datadir`, each recording is a stream if there is a file `segments`; otherwise each speaker is a stream. All times
in a *recording* count from the same start. Without `segments`, each utterance or speaker is taken for a recording. The
ids of a CTM are all of the same kind:

    with segments      either recordings (by id, or by file and channel as in `reco2file_and_channel`) or utterances,
                       whose times count from the start of the utterance
    without segments   either utterances (by id, or by file and channel) or speakers

Memory holds a few hundred bytes per utterance, and the words of one group of streams (see `spans.grouped`).
"""

from collections.abc import Iterable, Iterator, Set
from itertools import chain, groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.jobs import Share
from punc.data.datadir import DataDir, Utterance, segment, speaker
from punc.data.tables import count_blanks, read_table
from punc.decoding.options import CHUNK_SIZE
from punc.decoding.spans import grouped
from punc.timing.pauses import SEGMENT_SLACK, Channels, read_channels
from punc.transcripts.ctm import CtmIndex, CtmLine, read_lines
from punc.transcripts.source import PartsDocument, Source
from punc.transcripts.transcript import Text, Transcript

ALL = Share(1, 1)
BYTES = 24  # the approximate length of a CTM line in bytes
UTTERANCE, RECORDING, SPEAKER = "utterance", "recording", "speaker"  # the kinds of ids of a CTM


class Group(NamedTuple):
    """The words of one or more complete streams. `pauses`: float (W,), the pause after each word in seconds;
    None: compute the pauses from the times of the words."""

    transcript: Transcript  # its texts are in stream order; its document contains the lines of the CTM, if there is one
    lines: list[tuple[str, int]]  # for each line of the output table `text`: (id, end of its items in transcript.texts)
    recordings: list[str]  # the names of the recordings, in order, including those without words
    pauses: np.ndarray | None = None


class Tables(NamedTuple):
    """The tables of a data directory that are needed to read its CTM."""

    speakers: dict[str, str]  # utterance → speaker
    # utterance → (recording, begin, end); None: no file `segments`
    segments: dict[str, tuple[str, float, float]] | None
    channels: Channels

    def recordings(self) -> set[str]:
        return {recording for recording, _, _ in (self.segments or {}).values()}

    def file(self, id: str) -> str:
        return self.channels.get(id, (id, ""))[0]


class Entry(NamedTuple):
    """An id that a CTM can contain. The file `text` that `punc transcript` writes has one line for each entry."""

    id: str
    recording: str
    speakers: tuple[list[float], list[str]]  # begin times of the recording's segments, and their speakers
    begin: float = 0.0  # seconds from the start of the recording to time 0 of this id
    length: float = np.inf  # duration in seconds; infinite if unknown


def read_tables(directory: Path) -> Tables:
    """Read `utt2spk` and, if they exist, `segments` and `reco2file_and_channel`. Raises InputError if a file is
    invalid, or if `utt2spk` and `segments` list different utterances."""
    if not directory.is_dir():
        raise InputError("no such data directory", "give the one that was decoded", directory)
    file, table, segments = directory / "utt2spk", directory / "segments", None
    speakers = {row.key: speaker(row, file) for row in read_table(file)}
    if table.is_file():
        segments = {row.key: segment(row, table) for row in read_table(table)}
        for path, ids, other, other_ids in (table, segments, file, speakers), (file, speakers, table, segments):
            if missing := other_ids.keys() - ids.keys():
                raise InputError(f"no line for '{min(missing)}', which {other.name} has", "run utils/fix_data_dir.sh",
                                 path)
    else:
        for number, (before, name) in enumerate(pairwise(speakers.values()), 2):
            if name < before:  # utterances of a speaker must be adjacent, because a speaker is one stream
                raise InputError(f"speaker '{name}' comes after '{before}'",
                                 "make speaker ids prefixes of utterance ids, and sort", file, number)
    return Tables(speakers, segments, read_channels(directory / "reco2file_and_channel"))


def _kind_of_ids(tables: Tables, ctm: CtmIndex, directory: Path) -> str:
    utterances, recordings = set(tables.speakers), tables.recordings()
    files = {file for name, (file, _) in tables.channels.items() if name in recordings | utterances}
    kinds = {RECORDING: recordings | files, UTTERANCE: utterances}
    if tables.segments is None:
        kinds = {UTTERANCE: utterances | files, SPEAKER: set(tables.speakers.values())}
    chosen = ""
    for id in ctm:
        found = next((kind for kind, names in kinds.items() if id in names), "")
        if not found:
            first, second = kinds
            raise InputError(f"'{id}' is neither {first} nor {second} of {directory}",
                             "give the data directory that was decoded, with its segments and reco2file_and_channel",
                             *ctm.where(id))
        chosen = chosen or found
        if found != chosen:
            raise InputError(f"'{id}' is a {found}, but the ids before are {chosen}s", "give all ids of one kind",
                             *ctm.where(id))
    return chosen


def _streams(tables: Tables, kind: str) -> Iterator[list[Entry]]:
    """Yield each stream's entries, sorted by time or, without `segments`, by id. Ids that the CTM lacks are included.
    The streams are in C-locale order."""
    if tables.segments is None:
        for name, of_speaker in groupby(tables.speakers.items(), key=itemgetter(1)):
            ids = [name] if kind == SPEAKER else [id for id, _ in of_speaker]
            yield [Entry(id, id, ([0.0], [name])) for id in ids]
        return
    order = sorted((recording, begin, id) for id, (recording, begin, _) in tables.segments.items())
    for recording, of_recording in groupby(order, key=itemgetter(0)):
        segments = [(begin, id) for _, begin, id in of_recording]
        if kind == RECORDING:
            names = [tables.speakers[id] for _, id in segments]
            yield [Entry(recording, recording, ([begin for begin, _ in segments], names))]
        else:
            yield [Entry(id, recording, ([0.0], [tables.speakers[id]]), begin, tables.segments[id][2] - begin)
                   for begin, id in segments]


def ctm_groups(directory: Path, ctm: CtmIndex, share: Share = ALL, chunk_size: int = CHUNK_SIZE) -> Iterator[Group]:
    """Yield a CTM's words for a share of a data directory's streams, in groups of complete streams. Ids that the CTM
    lacks have no words. Raises InputError for broken files, for CTM ids that are not in the data directory, and for CTM
    ids of different kinds."""
    tables = read_tables(directory)
    streams = []
    for stream in _streams(tables, _kind_of_ids(tables, ctm, directory)):
        files = [tables.file(entry.id) for entry in stream]
        streams.append((stream, sum(ctm.size(file) // BYTES for file in files if file in ctm)))
    check_file_names({entry.recording for stream, _ in streams for entry in stream}, directory)
    own = share.of(streams, lambda stream: stream[1] + 1, sum(size for _, size in streams) + len(streams))
    for group in grouped(own, lambda stream: stream[1], chunk_size):
        yield _of_ctm([stream for stream, _ in group], tables, ctm)


def _of_ctm(streams: list[list[Entry]], tables: Tables, ctm: CtmIndex) -> Group:
    entries = [(number, entry) for number, stream in enumerate(streams) for entry in stream]
    raw = list[list[CtmLine]]()
    for _, entry in entries:
        file, channel = tables.channels.get(entry.id, (entry.id, ""))
        known = tables.channels.of_files[file] if entry.id in tables.channels else set[str]()
        raw.append(ctm.lines(file, channel, known, strict=True) if file in ctm else [])
    content = "".join([line.text for line in chain.from_iterable(raw)])
    document = PartsDocument(Source("", content, "utf-8"))
    texts, lines, at = list[Text](), list[tuple[str, int]](), 0
    for (stream, entry), of_entry in zip(entries, raw):
        found = _placed(read_lines(of_entry, document, at, ctm.repairs), entry, stream)
        if found and found[-1].end - entry.begin > entry.length + SEGMENT_SLACK:
            raise InputError(f"'{entry.id}' has a word that ends at {found[-1].end - entry.begin:.2f} s, but is "
                             f"{entry.length:.2f} s long", "count times from the start of the utterance, or use the "
                             "recording's id", *ctm.where(tables.file(entry.id)))
        texts += found
        lines.append((entry.id, len(texts)))
        at += sum(len(line.text) for line in of_entry)
    recordings = list(dict.fromkeys(entry.recording for _, entry in entries))
    return Group(Transcript("CTM", _with_turns(texts, tables.speakers.keys()), document), lines, recordings)


def _placed(texts: list[Text], entry: Entry, stream: int) -> list[Text]:
    begins, speakers = entry.speakers
    found = []
    for text in sorted(texts, key=lambda text: text.begin):
        middle = (text.begin + text.end) / 2
        part = max(int(np.searchsorted(begins, middle, "right")) - 1, 0) if len(begins) > 1 else 0
        found.append(text._replace(begin=text.begin + entry.begin, end=text.end + entry.begin, stream=stream,
                                   recording=entry.recording, speaker=speakers[part], segment=part))
    return found


def _with_turns(texts: list[Text], unnamed: Set[str]) -> list[Text]:
    """Set `turn` where the speaker changes. Remove a speaker's name if it is an utterance id or the only name in its
    recording."""
    first = {text.recording: text.speaker for text in reversed(texts)}
    several = {text.recording for text in texts if text.speaker != first[text.recording]}
    found, before = list[Text](), None
    for text in texts:
        turn = before is not None and before.recording == text.recording and before.speaker != text.speaker
        named = text.recording in several and text.speaker not in unnamed
        found.append(text._replace(turn=turn, speaker=text.speaker if named else ""))
        before = text
    return found


def text_groups(directory: Path, share: Share = ALL, chunk_size: int = CHUNK_SIZE) -> Iterator[Group]:
    """Yield the words of a data directory's `text` in groups, as `ctm_groups` does, with any known pauses."""
    data, tables = DataDir(directory), read_tables(directory)
    names = set(tables.speakers.values()) if tables.segments is None else tables.recordings()
    check_file_names(names, directory)
    own = share.of(data.streams(), lambda stream: _count(stream) + 1, count_blanks(data.path / "text") + len(names))
    for group in grouped(own, _count, chunk_size):
        texts, lines, pauses = list[Text](), list[tuple[str, int]](), list[np.ndarray]()
        for number, (stream, utterances) in enumerate(group):
            for utterance in utterances:
                texts.append(Text(0, " ".join(utterance.words), speaker=tables.speakers[utterance.id],
                                  segment=len(texts), stream=number, recording=stream))
                lines.append((utterance.id, len(texts)))
                pauses += [] if utterance.pauses is None else [utterance.pauses.astype(float)]
        document = PartsDocument(Source("", "", "utf-8"))
        yield Group(Transcript("text of Kaldi", _with_turns(texts, tables.speakers.keys()), document), lines,
                    [stream for stream, _ in group], np.concatenate(pauses) if pauses else None)


def _count(stream: tuple[str, list[Utterance]]) -> int:
    return sum(len(utterance.words) for utterance in stream[1])


def file_name(recording: str) -> str:
    return recording.replace("/", "_")


def check_file_names(recordings: Iterable[str], directory: Path) -> None:
    """Raise InputError if the output files of two recordings would have the same name."""
    names: dict[str, str] = {}
    for recording in sorted(recordings):
        if (other := names.setdefault(file_name(recording), recording)) != recording:
            raise InputError(f"recordings '{other}' and '{recording}' would have the same files: "
                             f"{file_name(recording)}.txt", "rename one of them", directory)
