"""ASR output as streams of words: from a CTM and a Kaldi data directory, or from the directory's `text`.

Streams are those of `datadir`: recordings if there is a file `segments`, else speakers. The times of a *recording*
count from one start; without `segments`, each utterance or speaker is a recording. Memory holds a few hundred bytes
per utterance, and the words of one group (see `spans`) or stream.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, compress, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.jobs import Share
from punc.base.runs import bounds_of, next_of, starts_of_runs
from punc.data.datadir import DataDir, Utterance
from punc.data.tables import count_blanks
from punc.decoding.ctm_entries import Entry, read_entries, read_tables
from punc.decoding.options import CHUNK_SIZE
from punc.decoding.spans import grouped
from punc.timing.fast_ctm import CtmFile, TimedLines
from punc.timing.pauses import SEGMENT_SLACK

ALL = Share(1, 1)


class AsrOutput(NamedTuple):
    """The words of some whole streams, one after another.

    words       N words
    pauses      float32 (N,) seconds, NaN unknown; None if there are none
    streams     where the words of each stream end
    lines       (id, where its words end) for each line of the transcript's `text`
    recordings  (name, where its words end) for each recording
    turns       bool (N,): whether the speaker changes after this word
    speaker     int64 (N,): who says it, a number of `speakers`
    speakers    names
    timed       the words' lines in the CTM, times counted from the start of the recording; None without a CTM
    """

    words: list[str]
    pauses: np.ndarray | None
    streams: list[int]
    lines: list[tuple[str, int]]
    recordings: list[tuple[str, int]]
    turns: np.ndarray
    speaker: np.ndarray
    speakers: list[str]
    timed: TimedLines | None = None


def without(output: AsrOutput, left_out: np.ndarray) -> AsrOutput:
    """The output without some words, bool (N,); a turn that ends with such a word ends with the one before."""
    keep = ~left_out
    before = bounds_of(keep)  # how many words are kept up to here
    turns = np.zeros(int(before[-1]), bool)
    ends = before[np.flatnonzero(output.turns) + 1]
    turns[ends[ends > 0] - 1] = True
    words = list(compress(output.words, keep.tolist()))
    if output.timed:
        begins, ends = output.timed.begins[keep], output.timed.ends[keep]
        output = output._replace(timed=output.timed._replace(begins=begins, ends=ends))
    return output._replace(words=words, pauses=None if output.pauses is None else output.pauses[keep], turns=turns,
                           streams=before[output.streams].tolist(), speaker=output.speaker[keep],
                           recordings=[(name, int(before[end])) for name, end in output.recordings])


def read_ctm(directory: Path, ctm: CtmFile, share: Share = ALL, chunk_size: int = CHUNK_SIZE) -> Iterator[AsrOutput]:
    """The words of a CTM for the utterances or recordings of a data directory, in groups of whole streams.

    share        take this share of the streams
    chunk_size   long streams fill whole batches of such chunks (see `spans.grouped`)

    Utterances and recordings that are not in the CTM have no words. Raises InputError for broken files, and for an id
    of the CTM that the data directory does not have, or that is of another kind than those before.
    """
    streams, shifted = read_entries(directory, ctm)
    check_file_names({entry.recording for stream in streams for entry in stream}, directory)
    sizes = [sum(run.lines for entry in stream for run in entry.runs) for stream in streams]
    # A stream counts as one word more, so that streams without words are shared, too.
    own = share.of(zip(streams, sizes), lambda stream: stream[1] + 1, sum(sizes) + len(sizes))
    for group in grouped(own, lambda stream: stream[1], chunk_size):
        yield _timed([stream for stream, _ in group], ctm, shifted)


def _timed(streams: list[list[Entry]], ctm: CtmFile, shifted: bool) -> AsrOutput:
    """The words of some streams; `shifted`: their times count from the start of utterances in `segments`."""
    entries = list(chain.from_iterable(streams))
    timed = ctm.read([entry.runs for entry in entries])
    counts = np.diff(timed.bounds)
    if shifted:
        timed = _shift(timed, entries, counts, ctm)
    ends = timed.bounds[1:].tolist()
    lines = [(entry.id, end) for entry, end in zip(entries, ends)]
    following = [*(entry.recording for entry in entries[1:]), None]
    recordings = [(entry.recording, end) for entry, other, end in zip(entries, following, ends)
                  if entry.recording != other]
    closes = np.where([len(stream) == 1 and not shifted for stream in streams for _ in stream], timed.closes, np.nan)
    pauses = next_of(timed.begins, np.nan) - timed.ends
    pauses[np.array([end for _, end in recordings if end], np.int64) - 1] = np.nan
    last = timed.bounds[1:][counts > 0] - 1
    pauses[last] = np.where(np.isnan(closes[counts > 0]), pauses[last], closes[counts > 0] - timed.ends[last])
    lasts = [ends[i - 1] for i in np.cumsum([len(stream) for stream in streams]).tolist()]
    turns, speaker, speakers = _turns(entries, timed, counts)
    return AsrOutput(timed.words, np.maximum(np.round(pauses, 6), 0).astype(np.float32), lasts, lines, recordings,
                     turns, speaker, speakers, timed)


def _shift(timed: TimedLines, entries: list[Entry], counts: np.ndarray, ctm: CtmFile) -> TimedLines:
    """Times from the start of utterances, as times from the start of the recording."""
    lengths = np.repeat([entry.length for entry in entries], counts)
    late = timed.ends > lengths + SEGMENT_SLACK
    if late.any():
        at = int(np.argmax(late))
        entry = entries[int(np.searchsorted(timed.bounds, at, "right")) - 1]
        raise InputError(f"'{entry.id}' has a word that ends at {timed.ends[at]:.2f} s, but is {entry.length:.2f} s "
                         "long", "count times from the start of the utterance, or use the recording's id",
                         ctm.path, entry.runs[0].line)
    begins = np.repeat([entry.begin for entry in entries], counts)
    return timed._replace(begins=timed.begins + begins, ends=timed.ends + begins)


def _turns(entries: list[Entry], timed: TimedLines, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """After which words the speaker changes, the speaker of each word, and the names of speakers.

    In a recording, the segment at a word's middle says its speaker.
    """
    numbers: dict[str, int] = {}
    of_words = [np.zeros(0, np.int64)]
    for entry, count, end in zip(entries, counts.tolist(), timed.bounds[1:].tolist()):
        begins, speakers = entry.speakers
        of = np.array([numbers.setdefault(speaker, len(numbers)) for speaker in speakers])
        if len(of) == 1:
            of_words.append(np.full(count, of[0]))
            continue
        middles = (timed.begins[end - count:end] + timed.ends[end - count:end]) / 2
        of_words.append(of[np.maximum(np.searchsorted(begins, middles, "right") - 1, 0)])
    by_word = np.concatenate(of_words)
    return next_of(starts_of_runs(by_word), False), by_word, list(numbers)


def read_text(directory: Path, share: Share = ALL, chunk_size: int = CHUNK_SIZE) -> Iterator[AsrOutput]:
    """The words of a data directory's `text`, with its pauses if it has some, in groups of whole streams.

    Without `segments`, each stream is a recording. Arguments as those of `read_ctm`; raises InputError as
    `DataDir.utterances`.
    """
    data, tables = DataDir(directory), read_tables(directory)
    names = set(tables.speakers.values()) if tables.segments is None else {r for r, *_ in tables.segments.values()}
    check_file_names(names, directory)
    own = share.of(data.streams(), lambda stream: _words(stream) + 1, count_blanks(data.path / "text") + len(names))
    for group in grouped(own, _words, chunk_size):
        yield _untimed(group, tables.speakers)


def file_name(recording: str) -> str:
    """The name of a recording's files, without ending."""
    return recording.replace("/", "_")


def check_file_names(recordings: Iterable[str], directory: Path) -> None:
    """Raise InputError if two recordings would have the same files."""
    names: dict[str, str] = {}
    for recording in sorted(recordings):
        if (other := names.setdefault(file_name(recording), recording)) != recording:
            raise InputError(f"recordings '{other}' and '{recording}' would have the same files: "
                             f"{file_name(recording)}.txt", "rename one of them", directory)


def _words(stream: tuple[str, list[Utterance]]) -> int:
    return sum(len(utterance.words) for utterance in stream[1])


def _untimed(streams: list[tuple[str, list[Utterance]]], speakers: dict[str, str]) -> AsrOutput:
    utterances = list(chain.from_iterable(of_stream for _, of_stream in streams))
    ends = np.cumsum([len(utterance.words) for utterance in utterances]).tolist()
    lasts = [ends[i - 1] for i in np.cumsum([len(of_stream) for _, of_stream in streams]).tolist()]
    words = list(chain.from_iterable(utterance.words for utterance in utterances))
    turns, numbers = np.zeros(len(words), bool), dict[str, int]()
    speaker = [numbers.setdefault(speakers[u.id], len(numbers)) for u in utterances for _ in u.words]
    for (this, other), end in zip(pairwise(utterances), ends):
        if end and speakers[this.id] != speakers[other.id]:
            turns[end - 1] = True
    pauses = None if utterances[0].pauses is None else np.concatenate([utterance.pauses for utterance in utterances])
    return AsrOutput(words, pauses, lasts, [(utterance.id, end) for utterance, end in zip(utterances, ends)],
                     [(stream, end) for (stream, _), end in zip(streams, lasts)], turns,
                     np.array(speaker, np.int64), list(numbers))
