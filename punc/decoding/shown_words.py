"""Words of a transcript for other formats: which are shown, in which order, and when."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.runs import ends_of_runs, next_of, previous_of, starts_of_runs
from punc.decoding.marked_transcript import MarkedTranscript
from punc.subtitles.marks import NO_MARK, SENTENCE_END, marks_after
from punc.subtitles.paragraphs import capitalized
from punc.text.word_parts import MARK, SILENCE, SYMBOL, is_hidden
from punc.transcripts.transcript import Words

LONGEST = 1.0  # s; speakers take turns at silences that are longer, also within a sentence


class ShownWords(NamedTuple):
    """N words, recording after recording, each in time order.

    texts        as they are written
    numbers      int64 (N,), which word of the transcript it is
    marks        int8 (N,): NO_MARK, MARK or SENTENCE_END
    begins, ends float64 (N,) seconds; NaN if the transcript has no times
    pauses       float64 (N,) seconds after each word, NaN unknown
    speakers     int64 (N,), -1 unknown
    turns        bool (N,): another speaker follows in the recording
    recordings   int64 (R,): where the words of each recording end; none is empty
    names        R names
    """

    texts: list[str]
    numbers: np.ndarray
    marks: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    pauses: np.ndarray
    speakers: np.ndarray
    turns: np.ndarray
    recordings: np.ndarray
    names: list[str]

    @property
    def starts(self) -> np.ndarray:
        """The first word of each recording."""
        return previous_of(self.recordings, 0)


def shown_words(words: Words, marked: MarkedTranscript, tags: bool = False) -> ShownWords:
    """The words of a transcript, to be written in another format.

    tags   with tags that are for programs, as `<unk>` and `<noise>`
    """
    split = marked.words
    drop = [token.kind == SILENCE if tags else is_hidden(token) for token in split.tokens]
    shown = np.flatnonzero(~split.of(drop)) if split.tokens else np.zeros(0, np.int64)
    begins, ends = filled_times(words)
    marks, recording = marks_of(marked), words.recording
    breaks = np.append(True, (marks[:-1] == SENTENCE_END) | (begins[1:] - ends[:-1] > LONGEST))[:len(marks)]
    order = shown[_in_time(recording[shown], words.streams[shown], begins[shown], (breaks | split.turns)[shown])]
    recording, speakers = recording[order], words.speaker[order]
    ends_here = ends_of_runs(recording)
    turns = (ends_of_runs(speakers) | next_of(split.turns[order], False)) & ~ends_here
    bounds = np.flatnonzero(ends_here) + 1
    names = [words.recordings[i] for i in recording[bounds - 1].tolist()]
    return ShownWords([marked.texts[i] for i in order.tolist()], order, marks[order], begins[order], ends[order],
                      marked.pauses[order], speakers, turns, bounds, names)


def marks_of(marked: MarkedTranscript) -> np.ndarray:
    """What stands after each word: NO_MARK, MARK or SENTENCE_END, int8 (W,)."""
    words, marks = marked.words, marks_after(marked.texts, marked.labels, marked.label_set)
    symbols = np.flatnonzero(words.of([token.kind in (MARK, SYMBOL) for token in words.tokens]))
    for i in symbols.tolist():  # a mark that stands alone is that of the word before
        if i and words.tokens[words.codes[i]].ends:
            marks[i - 1], marks[i] = NO_MARK, SENTENCE_END
    return marks


def filled_times(words: Words) -> tuple[np.ndarray, np.ndarray]:
    """Begin and end of each word, float64 (W,) each; unknown ones in proportion to characters, NaN if none is known."""
    begins, ends = words.begins, words.ends
    if not (np.isnan(begins).any() or np.isnan(ends).any()):
        return begins, ends
    sizes = np.fromiter(map(len, words.texts), np.int64, len(words.texts)) + 1
    streams = words.streams
    points = np.stack([np.cumsum(sizes) - sizes, np.cumsum(sizes)], axis=1).astype(float)
    times = np.stack([begins, ends], axis=1)
    for stream in np.unique(streams).tolist():
        own = np.flatnonzero(streams == stream) if streams[0] != streams[-1] else slice(None)
        at, known = points[own].ravel(), times[own].ravel()
        fine = ~np.isnan(known)
        if fine.any():
            filled = np.where(fine, known, np.interp(at, at[fine], known[fine]))
            times[own] = filled.reshape(-1, 2)
    return times[:, 0], np.maximum(times[:, 0], times[:, 1])


def _in_time(recording: np.ndarray, streams: np.ndarray, begins: np.ndarray, breaks: np.ndarray) -> np.ndarray:
    """The order of words: recordings; in these, the parts of all streams between `breaks`, by their begin."""
    breaks = breaks | starts_of_runs(streams)
    group = np.cumsum(breaks) - 1
    start = begins[np.flatnonzero(breaks)][group] if len(group) else begins
    several = len(np.unique(streams)) > len(np.unique(recording))
    return np.lexsort((group, start if several else group, recording))


def timed(shown: ShownWords, form: str) -> ShownWords:
    """The words, if they have times. Raises InputError if not."""
    if np.isnan(shown.begins).any() or np.isnan(shown.ends).any():
        raise InputError(f"no times for --to {form}", "use --to text or --to paragraphs, or give a file with times")
    return shown


def capitals(shown: ShownWords) -> Sequence[str]:
    """The words with a capital where a recording, a sentence or a turn begins."""
    return capitalized(shown.texts, shown.marks, shown.starts, shown.turns)
