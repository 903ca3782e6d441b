"""`punc turns`: find where the speaker changes, from segments and speakers, or from an RTTM.

In NIST's RTTM, a turn is a line `SPEAKER FILE CHANNEL BEGIN DURATION <NA> <NA> NAME <NA> <NA>`, with times in seconds.
Lines of other types are ignored.
"""

import logging
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from punc.base.errors import InputError, StrPath
from punc.base.files import decoded_lines
from punc.base.options import OptionParser
from punc.data.datadir import LATEST, DataDir, speaker
from punc.data.tables import TURNS, ends_of_turns, read_table, write_turns
from punc.timing.pauses import match_times, read_channels, times_of_stream
from punc.transcripts.read import word_times

logger = logging.getLogger(__name__)
Turn = tuple[float, float, str]  # begin and end in seconds, and the speaker
# [(utterance, number of words), …], and the speaker of each word
Speakers = tuple[list[tuple[str, int]], list[str | None]]


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser("punc turns [--rttm FILE --times TIMES] DATA-DIR",
                          "Adds turns to DATA-DIR: for each word, 1 if another speaker says the next word of the "
                          "recording, else 0. With segments, utt2spk says who speaks. With --rttm, a diarization "
                          "says who speaks, for words with times under a recording's id. For text with speaker "
                          "labels, punc prepare --speaker makes turns.",
                          "punc turns data/train")
    parser.add_argument("--rttm", metavar="FILE", help="diarization in RTTM; its file names are recordings")
    parser.add_argument("--times", metavar="TIMES", help="with --rttm: a CTM, or a directory of CTMs or TextGrids")
    parser.add_argument("data", metavar="DATA-DIR", help="data directory")
    args = parser.parse(arguments)
    if bool(args.rttm) != bool(args.times):
        raise InputError("--rttm and --times go together", "give both, or neither with segments")
    data = DataDir(args.data, ignore=[TURNS])
    counts = Counter[str]()
    streams = by_diarization(data, args.rttm, args.times, counts) if args.rttm else by_speakers(data)
    write_turns(args.data, counted(streams, counts))
    logger.info("punc turns: %s: %s words, %s changes of speaker%s", args.data, f"{counts['words']:,}",
                f"{counts['changes']:,}", f"; {counts['unknown']:,} words whose speaker is not known, counted for the "
                "previous speaker" if counts["unknown"] else "")


def by_speakers(data: DataDir) -> Iterator[Speakers]:
    """Yield, for each recording, its utterances (id and number of words) and the speaker of each word, from `utt2spk`.
    Raises InputError if the directory has no segments."""
    if not data.has_segments:
        raise InputError("no such file", "without segments a stream is one speaker: give --rttm and --times, or make "
                                         "the directory with punc prepare --speaker", data.path / "segments")
    path = data.path / "utt2spk"
    names = {row.key: speaker(row, path) for row in read_table(path)}
    for _, utterances in data.streams():
        sizes = [(utterance.id, len(utterance.words)) for utterance in utterances]
        yield sizes, [names[id] for id, size in sizes for _ in range(size)]


def by_diarization(data: DataDir, rttm: str, times: str, counts: Counter[str]) -> Iterator[Speakers]:
    """Yield the same as `by_speakers`, but with speakers from an RTTM and word times. Raises InputError if no word has
    a speaker."""
    turns = read_rttm(rttm)
    sources = word_times(times)
    channels = read_channels(data.path / "reco2file_and_channel")
    for stream, utterances in data.streams():
        words = [word for utterance in utterances for word in utterance.words]
        timing = times_of_stream(stream, sources, channels)
        file = channels.get(stream, (stream, ""))[0]
        speakers: list[str | None] = [None] * len(words)
        if timing is not None:
            timed, matched = match_times(words, timing, counts)
            found = speakers_of(turns.get(stream) or turns.get(file, []), timed)
            speakers = [found[i] if i >= 0 else None for i in matched.tolist()]
        counts["unknown"] += speakers.count(None)
        yield [(utterance.id, len(utterance.words)) for utterance in utterances], speakers
    if counts["unknown"] == counts["words"]:
        raise InputError("no word has a speaker", "give the times and the RTTM the ids of the recordings", rttm)


def read_rttm(path: StrPath) -> dict[str, list[Turn]]:
    """Return the turns of each file in an RTTM. Raises InputError for an invalid line, or if there are no turns."""
    turns: dict[str, list[Turn]] = {}
    for number, line in decoded_lines(path):
        columns = line.split()
        if columns[:1] != ["SPEAKER"]:
            continue
        try:
            begin, duration, name = float(columns[3]), float(columns[4]), columns[7]
        except (ValueError, IndexError):
            begin = duration = -1.0
        if not (0 <= begin < LATEST and 0 <= duration < LATEST):  # true for NaN, too
            raise InputError("the line is not a turn",
                             "write SPEAKER FILE CHANNEL BEGIN DURATION <NA> <NA> NAME <NA> <NA>", path,
                             number)
        turns.setdefault(columns[1], []).append((begin, begin + duration, name))
    if not turns:
        raise InputError("the file has no SPEAKER lines", "give an RTTM file", path)
    return turns


def speakers_of(turns: Sequence[Turn], times: np.ndarray) -> list[str | None]:
    """Return for each word the speaker whose turns overlap it most, or None if no turn overlaps it.

    times   (words, 2) the begin and end of each word in seconds
    """
    names = sorted({name for _, _, name in turns})
    spoken = np.zeros((len(times), len(names) + 1))  # one column more than names, because argmax fails without columns
    for begin, end, name in turns:
        overlap = np.minimum(times[:, 1], end) - np.maximum(times[:, 0], begin)
        spoken[:, names.index(name)] += np.maximum(overlap, 0)
    most = spoken.argmax(1)
    return [names[i] if seconds[i] > 0 else None for i, seconds in zip(most.tolist(), spoken)]


def counted(streams: Iterator[Speakers], counts: Counter[str]) -> Iterator[tuple[str, np.ndarray]]:
    for sizes, speakers in streams:
        ends = ends_of_turns(speakers)
        counts["words"] += len(ends)
        counts["changes"] += int(ends.sum())
        bounds = np.cumsum([size for _, size in sizes])[:-1]
        yield from zip([id for id, _ in sizes], np.split(ends, bounds))
