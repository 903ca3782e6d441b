"""Computes one pause per slot from timed words, and writes pauses as Kaldi float vectors.

The pause after a word is the silence in its slot: the start time of the next word minus the end time of this word, but
at least 0. If the slot contains timed words that are not in the text (fillers, insertions), their durations are
subtracted.

The words of the text are aligned with the timed words (minimum edit distance, ignoring case) and get their times. A
substituted word gets the times of the timed word in its place. A pause is known if the words before and after it have
times; otherwise it is NaN. The pause after the last word of a stream is known if that word has times and the end of the
recording is known, from a TextGrid or from a silence at the end of a CTM.

The ids show which times belong to a stream. Times under the stream's id (recording or speaker), or under its file and
channel (`reco2file_and_channel`), count from the recording's start, and pauses between utterances are known. Times
under utterance ids count from the utterance's start. If there is a file `segments`, the utterance's start is added, and
pauses between the utterances of a recording are known; otherwise, pauses between utterances are NaN.
"""

import functools
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError, StrPath
from punc.base.files import atomic_dir
from punc.base.runs import next_of
from punc.data.datadir import Utterance
from punc.data.kaldi_io import archive_path, write_vector
from punc.data.tables import fields, read_table, sort_table
from punc.timing.align import align_words, folded

SEGMENT_SLACK = 1.0  # s; both ends are estimates, so a word may end up to this much after its utterance


class TimedWord(NamedTuple):
    """A word of an utterance or a recording, with its time in seconds. Some of NIST's CTMs name the `speaker`."""

    id: str
    channel: str
    begin: float
    duration: float
    word: str
    confidence: float | None = None
    speaker: str = ""


class Timing(NamedTuple):
    """The words of one id, in time order, without silences. `end`: the end of the recording or utterance in seconds,
    None if unknown; `file`, `line`: where the times come from."""

    words: list[TimedWord]
    end: float | None = None
    file: StrPath | None = None
    line: int | None = None


Sources = Mapping[str, Callable[..., Timing]]


class Channels(dict[str, tuple[str, str]]):
    """Recording → (file, channel)."""

    @functools.cached_property
    def of_files(self) -> dict[str, set[str]]:
        """File → its channels that are recordings."""
        channels: dict[str, set[str]] = {}
        for file, channel in self.values():
            channels.setdefault(file, set()).add(channel)
        return channels


def read_channels(path: StrPath) -> Channels:
    """Read `reco2file_and_channel`, if it exists. Raises InputError for an invalid file."""
    channels = Channels()
    recordings: dict[tuple[str, str], str] = {}
    for row in read_table(path) if os.path.isfile(path) else ():
        parts = fields(row.value)
        if len(parts) != 2:
            raise InputError(f"'{row.key}' does not have a file and a channel", "write: RECORDING FILE CHANNEL",
                             path, row.line)
        channels[row.key] = parts[0], parts[1]
        if (other := recordings.setdefault(channels[row.key], row.key)) != row.key:
            raise InputError(f"'{other}' and '{row.key}' have the same file and channel",
                             "give each its own file and channel, because times of words could belong to either",
                             path, row.line)
    return channels


def stream_pauses(utterances: Sequence[Utterance], sources: Sources, channels: Channels,
                  counts: Counter[str]) -> list[np.ndarray]:
    """Return the pauses of each utterance of a stream: float32 (words,), in seconds; NaN if unknown.

    utterances   the stream's utterances in time order
    counts       counters that are increased: `slots`; `known` pauses; `next_to_untimed`: pauses before or after a word
                 without times; `ends`: all other unknown pauses; `untimed` words of the text; `extra` timed words,
                 which are not in the text; `missing` utterances, which have no times; `errors`: the edit distance
                 between the timed words and the text

    Raises InputError if times are invalid, or if the times of an utterance run past its segment.
    """
    timing = times_of_stream(utterances[0].stream, sources, channels)
    if timing is not None:
        words = [word for utterance in utterances for word in utterance.words]
        times, matched = match_times(words, timing, counts)
        parts = [_pauses(times, matched, timing.end, counts)]
    else:
        parts = _of_utterances(utterances, sources, counts)
    lengths = [len(utterance.words) for utterance in utterances]
    return np.split(np.concatenate(parts), np.cumsum(lengths)[:-1])


def times_of_stream(stream: str, sources: Sources, channels: Channels) -> Timing | None:
    """Return the timing under a stream's id, or under its file and channel; None if neither exists."""
    file, channel = channels.get(stream, (stream, ""))
    for id in (stream, file):
        if id in sources:
            return sources[id](channel=channel, known=channels.of_files.get(id, frozenset()))
    return None


def _of_utterances(utterances: Sequence[Utterance], sources: Sources, counts: Counter[str]) -> list[np.ndarray]:
    all_times, all_matched, n_timed = [], [], 0
    pauses: list[np.ndarray] = []
    for utterance in utterances:
        id = utterance.id
        if id not in sources:
            counts["missing"] += 1
        timing = sources[id]() if id in sources else Timing([])
        times, matched = match_times(utterance.words, timing, counts)
        if utterance.times is None:
            pauses.append(_pauses(times, matched, timing.end if len(utterances) == 1 else None, counts))
            continue
        begin, end = utterance.times
        if len(times) and times[-1, 1] > end - begin + SEGMENT_SLACK:
            raise InputError(f"the times of '{id}' go up to {times[-1, 1]:.2f} s, but it is {end - begin:.2f} s long",
                             "give times relative to the utterance's start, or under the recording's id",
                             timing.file, timing.line)
        all_times.append(times + begin)
        all_matched.append(np.where(matched >= 0, matched + n_timed, -1))
        n_timed += len(times)
    if pauses:
        return pauses
    return [_pauses(np.concatenate(all_times), np.concatenate(all_matched), None, counts)]


def match_times(words: Sequence[str], timing: Timing, counts: Counter[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the begin and end of each timed word in seconds, (timed words, 2), and for each word the index of its
    timed word, or −1 if it has none. Adds the edit distance to `counts`."""
    alignment = align_words(folded(words), folded(row.word for row in timing.words))
    counts["errors"] += alignment.distance
    times = np.array([(row.begin, row.begin + row.duration) for row in timing.words]).reshape(-1, 2)
    return times, alignment.ref_to_hyp


def _pauses(times: np.ndarray, matched: np.ndarray, end: float | None, counts: Counter[str]) -> np.ndarray:
    pauses = slot_pauses(times, matched, end)
    untimed = matched < 0
    next_to_untimed = untimed | next_of(untimed, False)
    known = np.isfinite(pauses)
    counts.update(slots=len(pauses), known=int(known.sum()), next_to_untimed=int(next_to_untimed.sum()),
                  untimed=int(untimed.sum()), ends=int((~known & ~next_to_untimed).sum()),
                  extra=len(times) - int((~untimed).sum()))
    return pauses


def slot_pauses(times: np.ndarray, matched: np.ndarray, end: float | None = None) -> np.ndarray:
    """Return the silence after each word in seconds, float32 (words,); NaN if the word or the next word has no times.

    times     (timed words, 2): begin and end in seconds, in time order
    matched   (words,): for each word, the row of `times` that matches it, or -1 if none does; the rows increase
    end       the end of the recording in seconds; None if unknown
    """
    begins, ends = times[:, 0], times[:, 1]
    following = next_of(matched, -1)
    if end is not None:  # the end of the recording is treated as one more word
        begins = np.append(begins, end)
        ends = np.append(ends, end)
        following[-1:] = len(times)
    silence = np.append(0.0, np.cumsum(np.maximum(begins[1:] - ends[:-1], 0.0)))  # total silence before each timed word
    pauses = np.full(len(matched), np.nan, np.float32)
    known = (matched >= 0) & (following >= 0)
    # Without rounding, 0.3 - (0.1 + 0.2) would differ from zero in float64.
    pauses[known] = np.round(silence[following[known]] - silence[matched[known]], 6)
    return pauses


def write_pauses(directory: StrPath, pauses: Iterable[tuple[str, np.ndarray]]) -> None:
    """Write `pauses.ark` and `pauses.scp` of a data directory, given (utterance id, pauses) in any order. On an error,
    neither file changes. As in Kaldi's scripts, the index names the archive by its absolute path. Only the ids are in
    memory.
    """
    directory = Path(os.path.abspath(directory))
    archive = archive_path(directory / "pauses.ark")
    with atomic_dir(directory, "pauses.scp") as tmp:
        with open(tmp / "pauses.ark", "wb") as ark, open(tmp / "pauses.scp", "wb") as index:
            index.writelines(f"{id} {archive}:{write_vector(ark, id, vector)}\n".encode() for id, vector in pauses)
        sort_table(tmp / "pauses.scp")


def pauses_by_label(utterances: Iterable[Utterance]) -> dict[str, np.ndarray]:
    """Map each label to its slots' pauses in seconds, float32; NaN: unknown. The order of the labels is the order in
    which they first occur."""
    parts: dict[str, list[np.ndarray]] = {}
    for utterance in utterances:
        assert utterance.labels is not None
        assert utterance.pauses is not None
        labels = np.array(utterance.labels)
        for name in dict.fromkeys(utterance.labels):
            parts.setdefault(name, []).append(utterance.pauses[labels == name])
    return {name: np.concatenate(arrays) for name, arrays in parts.items()}
