"""Timed words to one pause per slot, and pauses as Kaldi float vectors.

The pause after a word is the silence in its slot: begin of the next word − end of this one, never below 0. Where
timed words that the text does not have stand between the two (fillers, insertions), their time is taken off.

Words of the text get their times by alignment (minimum edit distance, case ignored), not by position. A pause is
known where this word and the next one are timed; else it is NaN. A substituted word counts as timed: the recogniser
heard something else, but there (`substituted=False` leaves it out). After the last word of a stream the pause is
known where the recording's end is: from a TextGrid, or from a silence that ends a CTM.

Which times are a stream's is told by the ids. Times under the stream's id (recording or speaker), or under its file
and channel (`reco2file_and_channel`), count from the recording's start, and pauses between its utterances are known.
Times under utterance ids count from the utterance's start; with `segments` that start is added, and the pauses
between the utterances of a recording are known; without, they are NaN.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.files import atomic_file
from punc.base.idtable import IdTable
from punc.data.kaldi_io import write_vector
from punc.data.tables import fields, read_table
from punc.timing.align import align_words
from punc.timing.ctm import CTM_SILENCE, MAX_OVERLAP, CtmIndex, Timing
from punc.timing.textgrids import TEXTGRID_SILENCE, find_textgrids, index_textgrids

SEGMENT_SLACK = 1.0  # s; a word may end so much after its utterance does, since both ends are rounded and guessed
Sources = Mapping[str, Callable[..., Timing]]


def word_times(path: str | os.PathLike, form: str = "auto", tier: str = "words", silence: Iterable[str] | None = None,
               max_overlap: float = MAX_OVERLAP, repairs: Counter | None = None) -> Sources:
    """The times under `path`: every id, with a function that reads its timing.

    form      "ctm", "textgrid", or "auto": TextGrids where there are some
    silence   words that are silences, for others than CTM_SILENCE or TEXTGRID_SILENCE

    The others are those of `CtmIndex` and `index_textgrids`, which also say what raises InputError.
    """
    if form == "textgrid" or (form == "auto" and find_textgrids(path)):
        return index_textgrids(path, tier, TEXTGRID_SILENCE if silence is None else frozenset(silence) | {""})
    return CtmIndex(path, CTM_SILENCE if silence is None else frozenset(silence), max_overlap, repairs)


def read_channels(path: str | os.PathLike) -> dict[str, tuple[str, str]]:
    """Recording → file and channel, of `reco2file_and_channel`. Raises InputError for a line that is something else."""
    channels = {}
    for row in read_table(path):
        parts = fields(row.value)
        if len(parts) != 2:
            raise InputError(f"'{row.key}' does not have a file and a channel", "write: RECORDING FILE CHANNEL",
                             path, row.line)
        channels[row.key] = parts[0], parts[1]
    return channels


def stream_pauses(stream: str, utterances: Sequence[tuple[str, Sequence[str]]], sources: Sources,
                  segments: IdTable | None = None,
                  channels: Mapping[str, tuple[str, str]] | None = None,
                  substituted: bool = True, counts: Counter | None = None) -> list[np.ndarray]:
    """The pauses of a stream's utterances: for each a float32 (words,), seconds, NaN unknown.

    utterances   (id, words), in time order
    segments     begin and end of each utterance in seconds; None where there is no such file
    channels     recording → (file, channel)
    counts       adds up slots, known, beside (unknown beside an untimed word), ends (unknown at an end),
                 untimed (words of the text), extra (timed words that the text has not), missing (utterances)

    Raises InputError for what is wrong with the times, and where those of an utterance run past its segment.
    """
    counts = Counter() if counts is None else counts
    timing = times_of_stream(stream, sources, channels or {})
    if timing is not None:
        words = [word for _, of_utterance in utterances for word in of_utterance]
        times, matched = _match(words, timing, substituted)
        parts = [_pauses(times, matched, timing.end, counts)]
    else:
        parts = _of_utterances(utterances, sources, segments, substituted, counts)
    lengths = [len(words) for _, words in utterances]
    return np.split(np.concatenate(parts), np.cumsum(lengths)[:-1])


def times_of_stream(stream: str, sources: Sources, channels: Mapping[str, tuple[str, str]]) -> Timing | None:
    """The timing under a stream's id, or under its file and channel; None where there is neither."""
    file, channel = channels.get(stream, (stream, None))
    for id in (stream, file):
        if id in sources:
            return sources[id](channel=channel)
    return None


def _of_utterances(utterances: Sequence[tuple[str, Sequence[str]]], sources: Sources, segments: IdTable | None,
                   substituted: bool, counts: Counter) -> list[np.ndarray]:
    """Pauses from times under utterance ids: across utterances with `segments`, each for itself without."""
    all_times, all_matched, pauses, n_timed = [], [], [], 0
    for id, words in utterances:
        if id not in sources:
            counts["missing"] += 1
        timing = sources[id]() if id in sources else Timing([])
        times, matched = _match(words, timing, substituted)
        if segments is None:
            pauses.append(_pauses(times, matched, timing.end if len(utterances) == 1 else None, counts))
            continue
        begin, end = segments.rows(id)[0]
        if len(times) and times[-1, 1] > end - begin + SEGMENT_SLACK:
            raise InputError(f"the times of '{id}' go up to {times[-1, 1]:.2f} s, but it is {end - begin:.2f} s long",
                             "give times under an utterance's id from its start, or under the recording's id",
                             timing.file, timing.line)
        all_times.append(times + begin)
        all_matched.append(np.where(matched >= 0, matched + n_timed, -1))
        n_timed += len(times)
    if segments is None:
        return pauses
    return [_pauses(np.concatenate(all_times), np.concatenate(all_matched), None, counts)]


def _match(words: Sequence[str], timing: Timing, substituted: bool) -> tuple[np.ndarray, np.ndarray]:
    """Begin and end of the timed words, (timed, 2), and which of them each word of the text is, -1 for none."""
    text, timed = [word.casefold() for word in words], [row.word.casefold() for row in timing.words]
    matched = align_words(text, timed).ref_to_hyp
    if not substituted and len(timed):
        matched = np.where(np.array(text, object) == np.array(timed, object)[matched], matched, -1)
    times = np.array([(row.begin, row.begin + row.duration) for row in timing.words]).reshape(-1, 2)
    return times, matched


def _pauses(times: np.ndarray, matched: np.ndarray, end: float | None, counts: Counter) -> np.ndarray:
    pauses = slot_pauses(times, matched, end)
    untimed = matched < 0
    tmp = untimed | np.append(untimed[1:], False)
    known = np.isfinite(pauses)
    counts.update(slots=len(pauses), known=int(known.sum()), tmp=int(tmp.sum()), untimed=int(untimed.sum()),
                  ends=int((~known & ~tmp).sum()), extra=len(times) - int((~untimed).sum()))
    return pauses


def slot_pauses(times: np.ndarray, matched: np.ndarray, end: float | None = None) -> np.ndarray:
    """The silence after each word, float32 (words,), in seconds; NaN where it or the next word is not timed.

    times     (timed words, 2): begin and end in seconds, in time order
    matched   (words,): the timed word that each word is, increasing but for the -1 of untimed words
    end       where the recording ends, if that is known
    """
    begins, ends = times[:, 0], times[:, 1]
    following = np.append(matched[1:], -1)
    if end is not None:  # the end is like a word that begins there
        begins, ends, following[-1:] = np.append(begins, end), np.append(ends, end), len(times)
    # Rounded, so that 0.3 - (0.1 + 0.2) is the 0 that it was in the file.
    gaps = np.maximum(np.round(begins[1:] - ends[:-1], 6), 0.0)
    silence = np.append(0.0, np.cumsum(gaps))  # before each timed word
    pauses = np.full(len(matched), np.nan, np.float32)
    known = (matched >= 0) & (following >= 0)
    pauses[known] = np.round(silence[following[known]] - silence[matched[known]], 6)
    return pauses


def write_pauses(directory: str | os.PathLike, pauses: Iterable[tuple[str, np.ndarray]]) -> None:
    """Write `pauses.ark` and `pauses.scp` of a data directory, whole or not at all.

    The index has the order of `text`; the archive has the order given. The index names the archive by its absolute
    path, as Kaldi's scripts do. Memory: 32 bytes an utterance. Raises ValueError for an utterance of `text` without
    pauses.
    """
    directory = Path(os.path.abspath(directory))
    offsets = IdTable(1)
    # The archive is in place first: an index without its archive would look as if all were done.
    with atomic_file(directory / "pauses.scp") as index, atomic_file(directory / "pauses.ark", "wb") as ark:
        for id, vector in pauses:
            offsets.add(id, write_vector(ark, id, vector))
        for row in read_table(directory / "text"):
            offset = offsets.rows(row.key)
            if not len(offset):
                raise ValueError(f"no pauses for '{row.key}'")
            index.write(f"{row.key} {directory / 'pauses.ark'}:{int(offset[0, 0])}\n")


class PauseStatistics(NamedTuple):
    """The pauses of the slots with one label: their numbers, and quartiles of the known ones in seconds."""

    slots: int
    unknown: int
    lower: float
    median: float
    upper: float


def pauses_by_label(slots: Iterable[tuple[Sequence[str], np.ndarray]]) -> dict[str, PauseStatistics]:
    """Statistics of (labels, pauses) of utterances, by label; quartiles are NaN where no pause is known.

    Memory: 4 bytes a slot.
    """
    by_label: dict[str, list[np.ndarray]] = {}
    for labels, pauses in slots:
        labels = np.array(labels)
        for name in np.unique(labels).tolist():
            by_label.setdefault(name, []).append(pauses[labels == name])
    return {name: _statistics(np.concatenate(parts)) for name, parts in by_label.items()}


def _statistics(pauses: np.ndarray) -> PauseStatistics:
    known = pauses[np.isfinite(pauses)]
    quartiles = np.quantile(known, (0.25, 0.5, 0.75)).tolist() if len(known) else [np.nan] * 3
    return PauseStatistics(len(pauses), len(pauses) - len(known), *quartiles)
