"""Transcripts in other formats: SRT, WebVTT, CTM, JSON, text and paragraphs."""

import json
import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from punc.base.errors import InputError
from punc.base.runs import ends_of_runs
from punc.decoding.marked_transcript import MarkedTranscript
from punc.decoding.shown_words import ShownWords, capitals, shown_words, timed
from punc.subtitles.cues import make_cues
from punc.subtitles.marks import SENTENCE_END
from punc.subtitles.paragraphs import cue_texts, paragraphs, srt, vtt, with_speakers
from punc.transcripts.ctm import decimals
from punc.transcripts.transcript import Words

EMPTY = {"srt": "", "vtt": "WEBVTT\n", "txt": ""}  # files without words


def to_subtitles(form: str, words: Words, marked: MarkedTranscript) -> str:
    """As `srt` or `vtt`, where speakers are voices. Raises InputError without times, and for several recordings."""
    texts = subtitles(words, marked, form)
    if len(texts) > 1:
        raise InputError(f"{len(texts)} recordings, but --to {form} writes one",
                         "give a Kaldi data directory with --ctm, which makes a file for each")
    return next(iter(texts.values()), EMPTY[form])


def subtitles(words: Words, marked: MarkedTranscript, form: str) -> dict[str, str]:
    """The subtitles of each recording, `srt` or `vtt`, by its name. Raises InputError without times."""
    shown = timed(shown_words(words, marked), form)
    written = capitals(shown)
    cues = make_cues(written, shown.marks, shown.begins, shown.ends, shown.turns, shown.recordings)
    texts = list(cue_texts(written, cues))
    names = [words.speakers[i] if i >= 0 else "" for i in shown.speakers[cues.first].tolist()]
    found, begin = {}, 0
    for name, end in zip(shown.names, np.searchsorted(cues.first, shown.recordings).tolist()):
        found[name] = srt(texts[begin:end]) if form == "srt" else vtt(texts[begin:end], names[begin:end])
        begin = end
    return found


def to_text(words: Words, marked: MarkedTranscript) -> str:
    """A line for each turn of a speaker, `NAME: …`, and each text; of several recordings, each line begins with one."""
    shown = shown_words(words, marked)
    parts = _parts(shown, shown.turns | ends_of_runs(words.streams[shown.numbers]))
    written = _with_names(words, shown, np.array([begin for _, begin, _ in parts], np.int64))
    several = len(shown.recordings) > 1
    return "".join([" ".join([name] * several + written[begin:end]) + "\n" for name, begin, end in parts])


def _parts(shown: ShownWords, ends: np.ndarray) -> list[tuple[str, int, int]]:
    """Parts [begin, end) of the words, each with the name of its recording.

    ends   bool (N,): words that end a part; recordings do, too
    """
    ends = ends.copy()
    ends[shown.recordings - 1] = True
    bounds = [0, *(np.flatnonzero(ends) + 1).tolist()]
    numbers = np.searchsorted(shown.recordings, bounds[:-1], "right").tolist()
    return [(shown.names[number], begin, end) for number, (begin, end) in zip(numbers, pairwise(bounds))]


def to_paragraphs(words: Words, marked: MarkedTranscript) -> str:
    """Paragraphs with empty lines between them; where another speaker begins, `NAME: …`."""
    return "\n".join(recording_paragraphs(words, marked).values())


def recording_paragraphs(words: Words, marked: MarkedTranscript) -> dict[str, str]:
    """The paragraphs of each recording, by its name."""
    shown = shown_words(words, marked)
    written = _with_names(words, shown, np.append(shown.starts, np.flatnonzero(shown.turns) + 1))
    pauses = None if np.isnan(shown.pauses).all() else shown.pauses
    return {name: paragraphs(written[begin:end], shown.marks[begin:end], None if pauses is None else pauses[begin:end],
                             shown.turns[begin:end])
            for name, begin, end in _parts(shown, np.zeros(len(shown.texts), bool))}


def _with_names(words: Words, shown: ShownWords, starts: np.ndarray) -> list[str]:
    """The words, capitalized, with the names of their speakers at some words."""
    names = [words.speakers[i] if i >= 0 else "" for i in shown.speakers.tolist()]
    return with_speakers(capitals(shown), sorted(set(starts.tolist()) - {len(names)}), names)


def to_ctm(words: Words, marked: MarkedTranscript) -> str:
    """As CTM, words in time order with the recogniser's confidence. Raises InputError without times."""
    shown = timed(shown_words(words, marked, tags=True), "ctm")
    confidences, begins = words.confidences[shown.numbers].tolist(), shown.begins.tolist()
    lengths = np.maximum(shown.ends - shown.begins, 0.0).tolist()
    lines = []
    for name, first, last in _parts(shown, np.zeros(len(shown.texts), bool)):
        id = name.replace(" ", "_") or "1"
        for at in range(first, last):
            tail = "" if math.isnan(confidences[at]) else f" {decimals(confidences[at])}"
            parts = shown.texts[at].split(" ")  # JSON's `10 %` is two
            length = lengths[at] / len(parts)
            for i, part in enumerate(parts):
                begin = begins[at] + i * length
                lines.append(f"{id} 1 {decimals(begin)} {decimals(length)} {part}{tail}\n")
    return "".join(lines)


def to_json(words: Words, marked: MarkedTranscript) -> str:
    """As JSON in Whisper's form, a segment for each sentence or turn; what is not known is left out."""
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
    "text": to_text, "paragraphs": to_paragraphs}
