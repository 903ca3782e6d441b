"""Subtitles in SRT and WebVTT, and paragraphs, from words with their marks."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from punc.data.labels import with_capital
from punc.subtitles.cues import LONG, Cues
from punc.subtitles.marks import SENTENCE_END

PARAGRAPH = 120  # words; the first sentence that ends after so many ends the paragraph


class CueText(NamedTuple):
    """A cue as it is written: `00:00:01,500 --> 00:00:02,750`, and one or two lines of text."""

    times: str
    text: str


def capitalized(words: Sequence[str], marks: np.ndarray, starts: np.ndarray, turns: np.ndarray) -> list[str]:
    """The words, with a capital at `starts` (recordings, for example), and after the end of a sentence or turn.

    A word that has capitals already stays as it is: iPhone. The other arguments are those of `make_cues`.
    """
    words = list(words)
    for i in {*starts.tolist(), *(np.flatnonzero((marks == SENTENCE_END) | turns) + 1).tolist()}:
        if i < len(words) and words[i].islower():
            words[i] = with_capital(words[i])
    return words


def cue_texts(words: Sequence[str], cues: Cues) -> Iterator[CueText]:
    """The cues as they are written."""
    for first, second, last, begin, end in zip(*(column.tolist() for column in cues[:5])):
        text = " ".join(words[first:second])
        if second < last:
            text += "\n" + " ".join(words[second:last])
        yield CueText(f"{_clock(begin)} --> {_clock(end)}", text)


def srt(cues: Sequence[CueText]) -> str:
    """Cues as SubRip."""
    return "".join([f"{i}\n{times}\n{text}\n\n" for i, (times, text) in enumerate(cues, 1)])


def vtt(cues: Sequence[CueText], speakers: Sequence[str] = ()) -> str:
    """Cues as WebVTT; the speaker of each, if there is one, is its voice: `<v Name>`."""
    voices = [f"<v {escape(name, quote=False)}>" if name else "" for name in speakers or [""] * len(cues)]
    text = "".join([f"\n{times.replace(',', '.')}\n{voice}{escape(text, quote=False)}\n"
                    for (times, text), voice in zip(cues, voices)])
    return f"WEBVTT\n{text}"


def _clock(time: int) -> str:
    """Milliseconds as 00:00:00,000; from 100 hours on with more digits."""
    seconds, milliseconds = divmod(time, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{seconds:02},{milliseconds:03}"


def paragraphs(words: Sequence[str], marks: np.ndarray, pauses: np.ndarray | None, turns: np.ndarray) -> str:
    """The words of one recording as paragraphs, separated by empty lines.

    A paragraph ends where the speaker changes. It also ends with a sentence if a silence of LONG seconds follows, or
    if it has PARAGRAPH words by then. It ends nowhere else: not at a silence inside a sentence, and not inside a name
    with initials or a number (`marks_after`).

    pauses   (N,) seconds after each word; None if not known. The other arguments are those of `make_cues`.
    """
    breaks = turns.copy()
    if pauses is not None:
        breaks |= (marks == SENTENCE_END) & (pauses >= LONG)  # false for NaN
    parts, start = [], 0
    for at in (np.flatnonzero((marks == SENTENCE_END) | breaks) + 1).tolist():
        if breaks[at - 1] or at - start >= PARAGRAPH:
            parts.append(" ".join(words[start:at]))
            start = at
    parts += [" ".join(words[start:])] * (start < len(words))
    return "\n\n".join(parts) + "\n" if parts else ""
