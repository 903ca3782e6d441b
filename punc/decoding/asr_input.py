"""What a recogniser wrote, as streams of words: a CTM beside a Kaldi data directory, or the directory's `text`.

Streams are those of `punc.data.datadir`: recordings where there is a `segments` file, else speakers. Of a CTM, an id is

    with segments   a recording, or its file and channel (`reco2file_and_channel`), or an utterance, whose times
                    begin with it
    without         an utterance, or its file and channel, or a speaker

of which all ids have to be of one kind. Each has one time base, its *recording*: a recording of `segments`, else the
utterance or the speaker itself. Memory: some hundred bytes an utterance, and the words of GROUP tokens or a stream.
"""

from collections.abc import Iterator
from itertools import chain, groupby, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.data.datadir import DataDir, Utterance, segment, speaker
from punc.data.tables import read_table
from punc.decoding.segments import CHUNK_SIZE, grouped
from punc.timing.fast_ctm import CtmFile, Run, TimedLines
from punc.timing.pauses import SEGMENT_SLACK, read_channels

# Slots of a long stream that are decoded in one go: a group fills one batch; fewer cuts than `punc punctuate` makes.
LONG_CHUNK = 2 * CHUNK_SIZE
UTTERANCE, RECORDING, SPEAKER = "utterance", "recording", "speaker"  # what the ids of a CTM are


class Spoken(NamedTuple):
    """The words of some whole streams, one after another.

    words       (N)
    pauses      float32 (N,) seconds, NaN unknown; None where there are none
    streams     where each stream's words end
    lines       (id, where its words end) of each line that they are in `text`
    recordings  (name, where its words end)
    turns       bool (N,): behind this word the speaker changes
    timed       the lines of the CTM, times counted from the start of the recording; None without one
    """

    words: list[str]
    pauses: np.ndarray | None
    streams: list[int]
    lines: list[tuple[str, int]]
    recordings: list[tuple[str, int]]
    turns: np.ndarray
    timed: TimedLines | None = None


class Piece(NamedTuple):
    """What stands under one id of a CTM.

    id         of its line in `text`
    recording  its time base
    runs       its lines
    begin      seconds to be added to its times
    length     seconds that it has; infinite where that is not known
    speakers   begins of segments in the recording, in order, and the speaker of each
    """

    id: str
    recording: str
    runs: list[Run]
    begin: float = 0.0
    length: float = np.inf
    speakers: tuple[list[float], list[str]] = ([0.0], [""])


class Tables(NamedTuple):
    """utterance → speaker; utterance → (recording, begin, end), None without `segments`; (file, channel) → recording"""

    speakers: dict[str, str]
    segments: dict[str, tuple[str, float, float]] | None
    channels: dict[tuple[str, str], str]


def read_tables(directory: Path) -> Tables:
    """Read `utt2spk` and, where they are there, `segments` and `reco2file_and_channel`. Raises InputError."""
    if not directory.is_dir():
        raise InputError("no such data directory", "name the one that was decoded", directory)
    file, table, segments, channels = directory / "utt2spk", directory / "segments", None, {}
    speakers = {row.key: speaker(row, file) for row in read_table(file)}
    if table.is_file():
        segments = {row.key: segment(row, table) for row in read_table(table)}
        for name, there, other in (table, speakers, segments), (file, segments, speakers):
            if missing := there.keys() - other.keys():
                named = (file if name is table else table).name
                raise InputError(f"no line for '{min(missing)}', which {named} has", "run utils/fix_data_dir.sh", name)
    if (directory / "reco2file_and_channel").is_file():
        named = read_channels(directory / "reco2file_and_channel")
        channels = {place: recording for recording, place in named.items()}
    return Tables(speakers, segments, channels)


def read_ctm(directory: Path, ctm: CtmFile, job: int = 1, nj: int = 1) -> Iterator[Spoken]:
    """The words of a CTM of the utterances or recordings of a data directory: the `job`-th of `nj` shares of them.

    What the CTM has nothing of is there without words. Raises InputError for broken files, and an id of the CTM that
    the directory has not, or that is of another kind than those before.
    """
    tables = read_tables(directory)
    kind, runs = _runs_by_name(tables, ctm, directory)
    streams = list(_streams(tables, kind, runs))
    sizes = [sum(run.lines for piece in stream for run in piece.runs) for stream in streams]
    share = [stream for stream, of in zip(zip(streams, sizes), _shares(sizes, nj)) if of == job]
    for group in grouped(share, lambda stream: stream[1], LONG_CHUNK):
        yield _timed([stream for stream, _ in group], ctm, tables.segments is not None and kind == UTTERANCE)


def _shares(sizes: list[int], nj: int) -> list[int]:
    """For each stream the number, from 1, of the job that it falls to: streams in order, about as many words each."""
    total = sum(sizes) + len(sizes)
    return [1 + min(nj - 1, int(nj * middle / total)) for middle in
            (np.cumsum(sizes) - np.array(sizes) / 2 + np.arange(len(sizes)) + 0.5).tolist()]


def _runs_by_name(tables: Tables, ctm: CtmFile, directory: Path) -> tuple[str, dict[str, list[Run]]]:
    """The kind of the CTM's ids, and the runs of each name of that kind."""
    utterances, speakers = (UTTERANCE, tables.speakers.keys()), (SPEAKER, set(tables.speakers.values()))
    recordings = (RECORDING, {recording for recording, _, _ in (tables.segments or {}).values()})
    kinds = [utterances, speakers] if tables.segments is None else [recordings, utterances]
    kind, runs = None, {}
    for run in ctm.runs():
        name = tables.channels.get((run.id, run.channel), run.id)
        this = next((kind for kind, names in kinds if name in names), None)
        if this is None:
            raise InputError(f"'{run.id}' is no {kinds[0][0]} and no {kinds[1][0]} of {directory}",
                             "name the data directory that was decoded", ctm.path, run.line)
        if this != (kind := kind or this):
            raise InputError(f"'{run.id}' is a {this}, but the ids above are {kind}s", "give all ids of one kind",
                             ctm.path, run.line)
        of_name = runs.setdefault(name, [])
        of_name.append(run)
        if (run.id, run.channel) != (of_name[0].id, of_name[0].channel):
            raise InputError(f"'{run.id}' has channels {of_name[0].channel} {run.channel} under one id",
                             "say in reco2file_and_channel which one a recording is", ctm.path, run.line)
    return kind, runs


def _streams(tables: Tables, kind: str, runs: dict[str, list[Run]]) -> Iterator[list[Piece]]:
    """Each stream's pieces in time order, the streams in C order."""
    if tables.segments is None:
        for speaker, group in groupby(tables.speakers.items(), key=lambda item: item[1]):
            names = [speaker] if kind == SPEAKER else [utterance for utterance, _ in group]
            yield [Piece(name, name, runs.get(name, [])) for name in names]
        return
    order = sorted((recording.encode(), begin, id) for id, (recording, begin, _) in tables.segments.items())
    for key, group in groupby(order, key=lambda item: item[0]):
        recording, segments = key.decode(), [(begin, id) for _, begin, id in group]
        if kind == RECORDING:
            speakers = [begin for begin, _ in segments], [tables.speakers[id] for _, id in segments]
            yield [Piece(recording, recording, runs.get(recording, []), speakers=speakers)]
        else:
            yield [Piece(id, recording, runs.get(id, []), begin, tables.segments[id][2] - begin,
                         ([0.0], [tables.speakers[id]])) for begin, id in segments]


def _timed(streams: list[list[Piece]], ctm: CtmFile, shifted: bool) -> Spoken:
    """The words of some streams; `shifted` where their times begin with utterances of `segments`."""
    pieces = list(chain.from_iterable(streams))
    timed = ctm.read([piece.runs for piece in pieces])
    counts = np.diff(timed.bounds)
    if shifted:
        timed = _shift(timed, pieces, counts, ctm)
    ends = timed.bounds[1:].tolist()
    lines = [(piece.id, end) for piece, end in zip(pieces, ends)]
    recordings = [(name, end) for (name, end), (other, _) in
                  zip(((piece.recording, end) for piece, end in zip(pieces, ends)),
                      chain(((piece.recording, 0) for piece in pieces[1:]), [(None, 0)])) if name != other]
    closes = np.where([len(stream) == 1 and not shifted for stream in streams for _ in stream], timed.closes, np.nan)
    pauses = np.append(timed.begins[1:], np.nan) - timed.ends
    pauses[np.array([end for _, end in recordings if end], np.int64) - 1] = np.nan
    last = timed.bounds[1:][counts > 0] - 1
    pauses[last] = np.where(np.isnan(closes[counts > 0]), pauses[last], closes[counts > 0] - timed.ends[last])
    return Spoken(timed.words, np.maximum(np.round(pauses, 6), 0).astype(np.float32),
                  [ends[i - 1] for i in np.cumsum([len(stream) for stream in streams]).tolist()], lines, recordings,
                  _turns(pieces, timed, counts), timed)


def _shift(timed: TimedLines, pieces: list[Piece], counts: np.ndarray, ctm: CtmFile) -> TimedLines:
    """Times from the start of utterances as times from the start of the recording."""
    lengths = np.repeat([piece.length for piece in pieces], counts)
    late = timed.ends > lengths + SEGMENT_SLACK
    if late.any():
        at = int(np.argmax(late))
        piece = pieces[int(np.searchsorted(timed.bounds, at, "right")) - 1]
        raise InputError(f"'{piece.id}' has a word that ends at {timed.ends[at]:.2f} s, but is {piece.length:.2f} s "
                         "long", "give times under an utterance's id from its start, or under the recording's id",
                         ctm.path, piece.runs[0].line)
    begins = np.repeat([piece.begin for piece in pieces], counts)
    return timed._replace(begins=timed.begins + begins, ends=timed.ends + begins)


def _turns(pieces: list[Piece], timed: TimedLines, counts: np.ndarray) -> np.ndarray:
    """Behind which words the speaker changes; one of a recording is the one of the segment at its middle."""
    numbers, parts = {}, [np.zeros(0, np.int64)]
    for piece, count, end in zip(pieces, counts.tolist(), timed.bounds[1:].tolist()):
        begins, speakers = piece.speakers
        of = np.array([numbers.setdefault(speaker, len(numbers)) for speaker in speakers])
        if len(of) == 1:
            parts.append(np.full(count, of[0]))
            continue
        middles = (timed.begins[end - count:end] + timed.ends[end - count:end]) / 2
        parts.append(of[np.maximum(np.searchsorted(begins, middles, "right") - 1, 0)])
    speakers = np.concatenate(parts)
    return np.append(speakers[1:] != speakers[:-1], np.zeros(min(len(speakers), 1), bool))


def read_text(directory: Path, job: int = 1, nj: int = 1) -> Iterator[Spoken]:
    """The words of a data directory's `text`, with its pauses if it has some: one of `nj` shares of its streams.

    Without `segments`, a stream is taken for a recording. Raises InputError as `DataDir.utterances`.
    """
    data, tables = DataDir(directory), read_tables(directory)
    total = len(set(tables.speakers.values()) if tables.segments is None else {r for r, *_ in tables.segments.values()})
    share = (stream for number, stream in enumerate(data.streams()) if 1 + number * nj // total == job)
    for group in grouped(share, lambda stream: sum(len(utterance.words) for utterance in stream[1]), LONG_CHUNK):
        yield _untimed(group, tables.speakers)


def _untimed(streams: list[tuple[str, list[Utterance]]], speakers: dict[str, str]) -> Spoken:
    utterances = list(chain.from_iterable(of_stream for _, of_stream in streams))
    ends = np.cumsum([len(utterance.words) for utterance in utterances]).tolist()
    lasts = [ends[i - 1] for i in np.cumsum([len(of_stream) for _, of_stream in streams]).tolist()]
    words = list(chain.from_iterable(utterance.words for utterance in utterances))
    turns = np.zeros(len(words), bool)
    for (this, other), end in zip(pairwise(utterances), ends):
        if end and speakers[this.id] != speakers[other.id]:
            turns[end - 1] = True
    pauses = None if utterances[0].pauses is None else np.concatenate([utterance.pauses for utterance in utterances])
    return Spoken(words, pauses, lasts, [(utterance.id, end) for utterance, end in zip(utterances, ends)],
                  [(stream, end) for (stream, _), end in zip(streams, lasts)], turns)
