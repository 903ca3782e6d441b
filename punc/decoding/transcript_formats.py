"""Transcripts in other formats: SRT, WebVTT, CTM, JSON, text and paragraphs."""

import json
from collections.abc import Callable
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


def to_srt(words: Words, marked: MarkedTranscript) -> str:
    """As SubRip. Raises InputError without times, and for several recordings."""
    return _only("srt", subtitles(words, marked, "srt"))


def to_vtt(words: Words, marked: MarkedTranscript) -> str:
    """As WebVTT; speakers are voices. Raises InputError as `to_srt`."""
    return _only("vtt", subtitles(words, marked, "vtt"))


def _only(form: str, texts: dict[str, str]) -> str:
    """The text of the only recording. Raises InputError if there are several."""
    if len(texts) > 1:
        raise InputError(f"{len(texts)} recordings, but --to {form} writes one",
                         "give a Kaldi data directory with --ctm, which makes a file for each")
    return next(iter(texts.values()), srt([]) if form == "srt" else vtt([], []))


def subtitles(words: Words, marked: MarkedTranscript, form: str) -> dict[str, str]:
    """The subtitles of each recording, `srt` or `vtt`, by its name. Raises InputError without times."""
    shown = timed(shown_words(words, marked), form)
    written = capitals(shown)
    cues = make_cues(written, shown.marks, shown.begins, shown.ends, shown.turns, shown.recordings)
    texts = list(cue_texts(written, cues))
    names = [words.speakers[i] if i >= 0 else "" for i in shown.speakers[cues.first].tolist()]
    cut = np.searchsorted(cues.first, np.append(0, shown.recordings)).tolist()  # a cue belongs to one recording
    return {name: srt(texts[begin:end]) if form == "srt" else vtt(texts[begin:end], names[begin:end])
            for name, (begin, end) in zip(shown.names, pairwise(cut))}


def to_text(words: Words, marked: MarkedTranscript) -> str:
    """A line for each turn of a speaker, `NAME: …`, and each text; of several recordings, each line begins with one."""
    shown = shown_words(words, marked)
    streams = words.streams[shown.numbers]
    ends = shown.turns | ends_of_runs(streams)
    ends[shown.recordings - 1] = True
    written, lines = _with_names(words, shown, np.append(0, np.flatnonzero(ends) + 1)), []
    for begin, end in pairwise([0, *(np.flatnonzero(ends) + 1).tolist()]):
        name = shown.names[int(np.searchsorted(shown.recordings, begin, "right"))]
        lines.append(" ".join([name] * (len(shown.recordings) > 1) + written[begin:end]))
    return "".join([f"{line}\n" for line in lines])


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
            for name, (begin, end) in zip(shown.names, pairwise([0, *shown.recordings.tolist()]))}


def _with_names(words: Words, shown: ShownWords, starts: np.ndarray) -> list[str]:
    """The words, capitalized, with the names of their speakers at some words."""
    names = [words.speakers[i] if i >= 0 else "" for i in shown.speakers.tolist()]
    return with_speakers(capitals(shown), sorted(set(starts.tolist()) - {len(names)}), names)


def to_ctm(words: Words, marked: MarkedTranscript) -> str:
    """As CTM, words in time order with the recogniser's confidence. Raises InputError without times."""
    shown = timed(shown_words(words, marked, tags=True), "ctm")
    confidences = words.confidences[shown.numbers].tolist()
    names = [name.replace(" ", "_") or "1" for name in shown.names]
    recording = np.searchsorted(shown.recordings, np.arange(len(shown.texts)), "right").tolist()
    lines = []
    for text, number, begin, end, confidence in zip(shown.texts, recording, shown.begins.tolist(), shown.ends.tolist(),
                                                    confidences):
        tail = "" if confidence != confidence else f" {decimals(confidence)}"
        parts, length = text.split(" ") if " " in text else [text], max(0.0, end - begin)  # JSON's `10 %` is two
        for i, part in enumerate(parts):
            time = f"{decimals(begin + i * length / len(parts))} {decimals(length / len(parts))}"
            lines.append(f"{names[number]} 1 {time} {part}{tail}\n")
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
    ends = shown.turns | (shown.marks == SENTENCE_END)
    ends[shown.recordings - 1] = True
    segments = []
    for number, (begin, end) in enumerate(pairwise([0, *(np.flatnonzero(ends) + 1).tolist()])):
        times = {key: members[at][key] for key, at in (("start", begin), ("end", end - 1)) if key in members[at]}
        speaker = int(shown.speakers[begin])
        named: dict[str, Any] = {"speaker": words.speakers[speaker]} if speaker >= 0 else {}
        if len(shown.recordings) > 1:
            named["recording"] = shown.names[int(np.searchsorted(shown.recordings, begin, "right"))]
        segments.append({"id": number, **times, "text": " " + " ".join(shown.texts[begin:end]), **named,
                         "words": members[begin:end]})
    text = " ".join(shown.texts)
    lines = ",\n".join(json.dumps(segment, ensure_ascii=False) for segment in segments)
    return f'{{"text": {json.dumps(text, ensure_ascii=False)}, "segments": [\n{lines}\n]}}\n'


WRITERS: dict[str, Callable[[Words, MarkedTranscript], str]] = {
    "srt": to_srt, "vtt": to_vtt, "ctm": to_ctm, "json": to_json, "text": to_text, "paragraphs": to_paragraphs}
