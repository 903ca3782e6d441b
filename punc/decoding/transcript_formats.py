"""Writes transcripts as SRT, WebVTT, CTM, JSON, text or paragraphs, with the words in the order of their times."""

import json
import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.runs import ends_of_runs, next_of, previous_of, starts_of_runs
from punc.decoding.marked_transcript import MarkedTranscript
from punc.subtitles.cues import cue_texts, make_cues, srt, vtt
from punc.subtitles.marks import NO_MARK, SENTENCE_END, capitalized, marks_after, paragraphs
from punc.text.word_parts import MARK, SILENCE, SYMBOL, is_hidden
from punc.transcripts.ctm import decimals
from punc.transcripts.transcript import Words

LONGEST = 1.0  # seconds; after a longer silence in a stream, words of another stream may be shown
EMPTY = {"srt": "", "vtt": "WEBVTT\n", "txt": ""}  # the content of files without words


class ShownWords(NamedTuple):
    """The N words that a format shows, sorted by recording, and by time within each recording."""

    texts: list[str]
    numbers: np.ndarray  # int64 (N,): the index of each word in the transcript
    marks: np.ndarray  # int8 (N,): NO_MARK, MARK or SENTENCE_END
    begins: np.ndarray  # float64 (N,) seconds; NaN if the transcript has no times
    ends: np.ndarray  # float64 (N,), like `begins`
    pauses: np.ndarray  # float64 (N,) seconds after each word; NaN: unknown
    speakers: np.ndarray  # int64 (N,): the index of each word's speaker; -1: unknown
    turns: np.ndarray  # bool (N,): whether another speaker says the next word in the recording
    recordings: np.ndarray  # int64 (R,): the index after the last word of each recording; no recording is empty
    names: list[str]  # names of the R recordings

    @property
    def starts(self) -> np.ndarray:
        return previous_of(self.recordings, 0)

    @property
    def written(self) -> list[str]:
        """The texts of the words, with a capital where a recording, a sentence or a turn begins."""
        return capitalized(self.texts, self.marks, self.starts, self.turns)

    def timed(self, form: str) -> "ShownWords":
        """Return `self`. Raises InputError, which names the output format `form`, if times are missing."""
        if np.isnan(self.begins).any() or np.isnan(self.ends).any():
            raise InputError(f"no times for --to {form}", "use --to text or --to paragraphs, or give a file with times")
        return self


def shown_words(words: Words, marked: MarkedTranscript, tags: bool = False) -> ShownWords:
    """Return the words of a transcript, without silences. `tags`: include tags for programs, such as `<unk>`."""
    split = marked.words
    drop = [token.kind == SILENCE if tags else is_hidden(token) for token in split.tokens]
    shown = np.flatnonzero(~split.of(drop)) if split.tokens else np.zeros(0, np.int64)
    begins, ends = (np.maximum(times, 0) for times in _filled_times(words))  # no format can store a negative time
    marks, recording = _marks_of(marked), words.recording
    breaks = np.append(True, (marks[:-1] == SENTENCE_END) | (begins[1:] - ends[:-1] > LONGEST))[:len(marks)]
    order = shown[_in_time(recording[shown], words.streams[shown], begins[shown], (breaks | split.turns)[shown])]
    recording, speakers = recording[order], words.speaker[order]
    ends_here = ends_of_runs(recording)
    turns = (ends_of_runs(speakers) | next_of(split.turns[order], False)) & ~ends_here
    bounds = np.flatnonzero(ends_here) + 1
    names = [words.recordings[i] for i in recording[bounds - 1].tolist()]
    return ShownWords([marked.texts[i] for i in order.tolist()], order, marks[order], begins[order], ends[order],
                      marked.pauses[order], speakers, turns, bounds, names)


def _marks_of(marked: MarkedTranscript) -> np.ndarray:
    words = marked.words
    marks = marks_after(marked.texts, marked.labels, marked.label_set)
    symbols = np.flatnonzero(words.of([token.kind in (MARK, SYMBOL) for token in words.tokens]))
    for i in symbols.tolist():  # the sentence ends after a separate mark, not before it
        if i and words.tokens[words.codes[i]].ends:
            marks[i - 1], marks[i] = NO_MARK, SENTENCE_END
    return marks


def _filled_times(words: Words) -> tuple[np.ndarray, np.ndarray]:
    """Return the start and end of each word, float64 (W,) each. Unknown times are interpolated by character count."""
    begins, ends = words.begins, words.ends
    if not (np.isnan(begins).any() or np.isnan(ends).any()):
        return begins, ends
    ends = _fitting_ends(words)
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


def _fitting_ends(words: Words) -> np.ndarray:
    """Return the end of each word, float64 (W,). A text of several words ends where it begins if it is said to end
    earlier, and where the speaker's next text begins if it is said to end later, as captions that stay on the
    screen."""
    begins, ends, following = words.begins, words.ends, next_of(words.begins, np.nan)
    begun = begins[np.maximum.accumulate(np.where(np.isnan(begins), 0, np.arange(len(begins))))]
    goes_on = ~ends_of_runs(words.streams, words.recording, words.speaker)
    ends = np.where(goes_on & (following < ends) & (following >= begun), following, ends)
    return np.where(np.isnan(begins), np.where(ends < begun, begun, ends), words.ends)


def _in_time(recording: np.ndarray, streams: np.ndarray, begins: np.ndarray, breaks: np.ndarray) -> np.ndarray:
    """Return the order in which words are shown: by recording, then by time. A recording is cut at `breaks`, where a
    stream begins, and where times go backwards, and the parts are sorted by their start times."""
    breaks = breaks | starts_of_runs(streams) | (np.diff(begins, prepend=-np.inf) < 0)
    group = np.cumsum(breaks) - 1
    start = begins[np.flatnonzero(breaks)][group] if len(group) else begins
    return np.lexsort((group, start, recording))


def to_subtitles(form: str, words: Words, marked: MarkedTranscript) -> str:
    """Return SRT, or WebVTT with voice tags. Raises InputError for missing times and for several recordings."""
    texts = subtitles(words, marked, form)
    if len(texts) > 1:
        raise InputError(f"{len(texts)} recordings, but --to {form} writes one",
                         "give a Kaldi data directory with --ctm, which gives one file for each recording")
    return next(iter(texts.values()), EMPTY[form])


def subtitles(words: Words, marked: MarkedTranscript, form: str) -> dict[str, str]:
    """Map each recording to its subtitles in the format `form`, srt or vtt. Raises InputError if times are missing."""
    shown = shown_words(words, marked).timed(form)
    written = shown.written
    cues = make_cues(written, shown.marks, shown.begins, shown.ends, shown.turns, shown.recordings)
    texts = list(cue_texts(written, cues))
    names = [words.speakers[i] if i >= 0 else "" for i in shown.speakers[cues.first].tolist()]
    found, begin = {}, 0
    for name, end in zip(shown.names, np.searchsorted(cues.first, shown.recordings).tolist()):
        found[name] = srt(texts[begin:end]) if form == "srt" else vtt(texts[begin:end], names[begin:end])
        begin = end
    return found


def to_text(words: Words, marked: MarkedTranscript) -> str:
    """Return one line for each turn in each stream: `NAME: …` if the speaker is known. If there are several
    recordings, the name of the recording comes first in each line."""
    shown = shown_words(words, marked)
    parts = _parts(shown, shown.turns | ends_of_runs(words.streams[shown.numbers]))
    written = _with_names(words, shown, np.array([begin for _, begin, _ in parts], np.int64))
    several = len(shown.recordings) > 1
    return "".join([" ".join([name] * several + written[begin:end]) + "\n" for name, begin, end in parts])


def _parts(shown: ShownWords, ends: np.ndarray) -> list[tuple[str, int, int]]:
    """Cut the words after each true item of `ends`, bool (N,), and after each recording. Return (recording, begin, end)
    of each part."""
    ends = ends.copy()
    ends[shown.recordings - 1] = True
    bounds = [0, *(np.flatnonzero(ends) + 1).tolist()]
    numbers = np.searchsorted(shown.recordings, bounds[:-1], "right").tolist()
    return [(shown.names[number], begin, end) for number, (begin, end) in zip(numbers, pairwise(bounds))]


def recording_paragraphs(words: Words, marked: MarkedTranscript) -> dict[str, str]:
    """Map each recording's name to its paragraphs. If the speaker is known, a turn begins with `NAME: …`."""
    shown = shown_words(words, marked)
    written = _with_names(words, shown, np.append(shown.starts, np.flatnonzero(shown.turns) + 1))
    pauses = None if np.isnan(shown.pauses).all() else shown.pauses
    return {name: paragraphs(written[begin:end], shown.marks[begin:end], None if pauses is None else pauses[begin:end],
                             shown.turns[begin:end])
            for name, begin, end in _parts(shown, np.zeros(len(shown.texts), bool))}


def _with_names(words: Words, shown: ShownWords, starts: np.ndarray) -> list[str]:
    written = shown.written
    for at in set(starts.tolist()) - {len(written)}:
        if shown.speakers[at] >= 0:
            written[at] = f"{words.speakers[shown.speakers[at]]}: {written[at]}"
    return written


def to_ctm(words: Words, marked: MarkedTranscript) -> str:
    """Return a CTM with the words in time order. Raises InputError if times are missing."""
    shown = shown_words(words, marked, tags=True).timed("ctm")
    confidences = words.confidences[shown.numbers].tolist()
    begins = shown.begins.tolist()
    lengths = np.maximum(shown.ends - shown.begins, 0.0).tolist()
    lines = []
    for name, first, last in _parts(shown, np.zeros(len(shown.texts), bool)):
        id = "_".join(name.split()) or "1"
        for at in range(first, last):
            tail = "" if math.isnan(confidences[at]) else f" {decimals(confidences[at])}"
            parts = shown.texts[at].split(" ")  # a JSON word with a space, such as `10 %`, becomes two CTM lines
            length = lengths[at] / len(parts)
            for i, part in enumerate(parts):
                begin = begins[at] + i * length
                lines.append(f"{id} 1 {decimals(begin)} {decimals(length)} {part}{tail}\n")
    return "".join(lines)


def to_json(words: Words, marked: MarkedTranscript) -> str:
    """Return JSON in Whisper's format, where a segment ends with a sentence or a turn. Unknown values are omitted."""
    shown = shown_words(words, marked, tags=True)
    own = shown.numbers
    columns = {"start": np.round(shown.begins, 6), "end": np.round(shown.ends, 6),
               "probability": words.confidences[own],
               "label_probability": np.round(marked.probabilities[own], 4)}
    if np.isnan(words.begins[own]).all():
        del columns["start"], columns["end"]
    values = {key: column.tolist() for key, column in columns.items()}
    members: list[dict[str, Any]] = [{"word": " " + text} for text in shown.texts]
    for key, column in values.items():
        for word, value in zip(members, column):
            if value == value:
                word[key] = value
    segments = []
    for number, (name, begin, end) in enumerate(_parts(shown, shown.turns | (shown.marks == SENTENCE_END))):
        times = {key: members[at][key] for key, at in (("start", begin), ("end", end - 1)) if key in members[at]}
        speaker = int(shown.speakers[begin])
        named: dict[str, Any] = {"speaker": words.speakers[speaker]} if speaker >= 0 else {}
        if len(shown.recordings) > 1:
            named["recording"] = name
        segments.append({"id": number, **times, "text": " " + " ".join(shown.texts[begin:end]), **named,
                         "words": members[begin:end]})
    text = " ".join(shown.texts)
    lines = ",\n".join(json.dumps(segment, ensure_ascii=False) for segment in segments)
    return f'{{"text": {json.dumps(text, ensure_ascii=False)}, "segments": [\n{lines}\n]}}\n'


WRITERS: dict[str, Callable[[Words, MarkedTranscript], str]] = {
    "srt": partial(to_subtitles, "srt"), "vtt": partial(to_subtitles, "vtt"), "ctm": to_ctm, "json": to_json,
    "text": to_text, "paragraphs": lambda words, marked: "\n".join(recording_paragraphs(words, marked).values())}
