"""Cuts timed words with marks into subtitle cues.

- A cue has at most two lines of up to LINE characters; a word that is longer than LINE gets its own line.
- A cue ends at the end of a sentence, but sentences that fit on one line together share a cue. A sentence of at most
  FEW characters shares a cue with the next sentence if two lines can hold both. A cue also ends at a silence of at
  least LONG seconds, and where the speaker changes.
- A sentence that needs several cues is cut after a mark if this leaves at least FEW characters on both sides.
  Otherwise, it is cut at a pause or, if there is none, into cues of about the same length. The two lines of a cue have
  about the same length, too, but a cut after a mark is preferred. Cuts inside a name or a number (`marks.tied`) are
  avoided.
- A cue is shown from the start of its first word to the end of its last. If that takes less than LEAST seconds, or less
  time than viewers need to read the cue at SPEED, the cue stays longer, at most until the next cue. Gaps shorter than
  GAP seconds are closed. Cues never overlap.
- If the next words follow so soon that a cue would still be shown for less than LEAST seconds, `short_cues` lengthens
  it.

The long sentences of all recordings are cut together: each step cuts one cue from the beginning of every sentence that
is still too long.
"""

from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from punc.base.runs import next_of, previous_of
from punc.subtitles.marks import LONG, MARK, NO_MARK, SENTENCE_END, tied
from punc.subtitles.short_cues import LEAST, ShortCues, moved

LINE = 42  # the maximum number of characters in a line
FEW = 14  # characters; a cut at a mark or a pause leaves at least this many on both sides
SPEED = 17  # characters that viewers read per second
PAUSE = 0.2  # s; the shortest silence at which a sentence may be cut
GAP = 0.25  # s; a shorter gap between two cues is closed, because the screen would flicker
APART = 0.2  # s; successive cues start at least this far apart, even if speech overlaps


class Cues(NamedTuple):
    """C cues in order, as arrays int64 (C,). A cue consists of the words [first, last), and is shown from `begin` to
    `end`, in milliseconds."""

    first: np.ndarray
    second: np.ndarray  # the word that begins the second line; `last` if the cue has one line
    last: np.ndarray
    begin: np.ndarray
    end: np.ndarray


def make_cues(words: Sequence[str], marks: np.ndarray, begins: np.ndarray, ends: np.ndarray, turns: np.ndarray,
              recordings: np.ndarray) -> Cues:
    """Cut words into cues.

    words          the words as they are written, with their marks
    marks          (N,): the mark after each word, as `marks_after` returns it
    begins, ends   (N,) seconds from the start of the recording
    turns          bool (N,): whether the speaker changes after this word
    recordings     int64 (R,): for each recording, the index after its last word; the last item is N; no recording is
                   empty
    """
    if not len(words):
        return Cues(*np.zeros((5, 0), np.int64))
    text = _Text(words)
    silence = np.append(begins[1:] - ends[:-1], 0.0)
    bounds = turns | (silence >= LONG)
    bounds[recordings - 1] = True
    inside = tied(words, marks)
    rank = np.where(marks == MARK, 2.0, silence >= PAUSE) - inside
    first, last = _split(*_joined(text, marks, bounds), text, rank)
    until = next_of(begins, np.inf)
    until[recordings - 1] = np.inf
    short = ShortCues(text.reach, text.length, begins, until, bounds, np.where(marks == SENTENCE_END, 3.0, rank))
    first, last = short.lengthened(first, last)
    starts, stops = _shown(text.length(first, last), begins[first], ends[last - 1],
                           np.searchsorted(recordings, first, "right"))
    return Cues(first, _second_lines(first, last, text, marks, inside), last, starts, stops)


class _Text:
    """Joins the words into one long line, separated by spaces. Stores where each word begins and ends, and finds how
    many words fit into a cue."""

    def __init__(self, words: Sequence[str]):
        sizes = np.fromiter(map(len, words), np.int64, len(words))
        self.ends = np.cumsum(sizes + 1) - 1
        self.begins = self.ends - sizes
        # For a line that begins with word i, line[i] is the index of the first word that does not fit.
        self.line = np.maximum(np.searchsorted(self.ends, self.begins + LINE, "right"), np.arange(1, len(words) + 1))

    def length(self, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        return self.ends[last - 1] - self.begins[first]

    def reach(self, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Return the first word that does not fit into two lines that begin with `first`; at most `last`."""
        line = np.minimum(self.line[first], last)
        return np.where(line < last, np.minimum(self.line[np.minimum(line, len(self.line) - 1)], last), last)


def _joined(text: _Text, marks: np.ndarray, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first word, and the word after the last, of each sentence or group of sentences that share a cue."""
    last = np.flatnonzero((marks == SENTENCE_END) | bounds) + 1
    first = previous_of(last, 0)
    limits = np.flatnonzero(bounds) + 1
    limit = limits[np.searchsorted(limits, first, "right")]
    # For each sentence, the index of the first later sentence that does not share a cue with it.
    number = np.arange(1, len(last) + 1)
    following = np.maximum(np.searchsorted(last, np.minimum(text.line[first], limit), "right"), number)
    pair = np.minimum(np.searchsorted(last, text.reach(first, limit), "right"), number + 1)
    following = np.where(text.length(first, last) <= FEW, np.maximum(following, pair), following).tolist()
    chosen, at = [], 0
    while at < len(following):
        chosen.append(at)
        at = following[at]
    return first[chosen], next_of(first[chosen], last[-1])


def _split(first: np.ndarray, last: np.ndarray, text: _Text, rank: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cut sentences longer than two lines into cues. `rank` (N,): how good each word is as the last word of a cue."""
    done = []
    while len(first):
        reach = text.reach(first, last)
        whole = reach == last
        done.append((first[whole], last[whole]))
        first, last, reach = first[~whole], last[~whole], reach[~whole]
        size = text.length(first, last)
        ideal = size / np.ceil(size / (2 * LINE))

        def score(row: np.ndarray, at: np.ndarray, first: np.ndarray = first, size: np.ndarray = size,
                  ideal: np.ndarray = ideal) -> np.ndarray:
            length = text.length(first[row], at)
            enough = (length >= FEW) & (size[row] - length > FEW)
            return np.where(enough, rank[at - 1], -2.0) * (4.0 * LINE) - np.abs(length - ideal[row])

        cut = _best(first + 1, reach + 1, score)
        done.append((first, cut))
        first = cut
    firsts, lasts = (np.sort(np.concatenate(column)) for column in zip(*done))
    return firsts, lasts


def _second_lines(first: np.ndarray, last: np.ndarray, text: _Text, marks: np.ndarray,
                  inside: np.ndarray) -> np.ndarray:
    """Return the first word of each cue's second line; `last` if the cue fits into one line."""
    second = last.copy()
    two = np.flatnonzero(text.line[first] < last)
    first, last = first[two], last[two]
    high = np.minimum(text.line[first], last - 1)
    # From word `low` on, the rest of the cue fits into one line.
    low = np.searchsorted(text.begins, text.ends[last - 1] - LINE)
    low = np.minimum(np.maximum(low, first + 1), high)
    worth = 2.0 * FEW * np.where(marks > NO_MARK, np.where(marks == SENTENCE_END, 1.5, 1.0), -1.0 * inside)

    def score(row: np.ndarray, at: np.ndarray) -> np.ndarray:
        unequal = np.abs(text.length(first[row], at) - text.length(at, last[row]))
        return worth[at - 1] - unequal

    second[two] = _best(low, high + 1, score)
    return second


def _best(low: np.ndarray, high: np.ndarray, score: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
    """Return, for each index i of `low`, the number in [low[i], high[i]) with the highest score(i, number), or the
    first such number if several have it."""
    counts = high - low
    starts = np.cumsum(counts) - counts
    row = np.repeat(np.arange(len(low)), counts)
    number = np.arange(len(row)) - (starts - low)[row]
    scores = score(row, number)
    best = np.flatnonzero(scores == np.maximum.reduceat(scores, starts)[row]) if len(row) else row
    chosen = np.empty(len(low), np.int64)
    chosen[row[best[::-1]]] = number[best[::-1]]
    return chosen


def _shown(sizes: np.ndarray, begins: np.ndarray, ends: np.ndarray, recordings: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return when each cue begins and ends, in milliseconds. `begins` and `ends`: when its first word begins and its
    last word ends, in seconds."""
    far = (recordings + 1) * (1 << 40)  # separates recordings by 30 years, so that they do not overlap
    number = np.arange(len(begins)) * round(1000 * APART)
    starts = np.maximum.accumulate(np.rint(1000 * begins).astype(np.int64) + far - number) + number
    needed = np.ceil(1000 * np.maximum(LEAST, sizes / SPEED)).astype(np.int64)
    spoken = np.rint(1000 * ends).astype(np.int64) + far
    stops = np.maximum(spoken, starts + needed)
    following = np.append(starts[1:], starts[-1:] + (1 << 40))
    stops = np.where(stops > following - round(1000 * GAP), following, stops)
    starts, stops = moved(starts, stops, spoken, far, round(1000 * GAP))
    return starts - far, stops - far


class CueText(NamedTuple):
    """A cue as it is written: `00:00:01,500 --> 00:00:02,750`, and one or two lines of text."""

    times: str
    text: str


def cue_texts(words: Sequence[str], cues: Cues) -> Iterator[CueText]:
    """Yield the written form of each cue."""
    for first, second, last, begin, end in zip(*(column.tolist() for column in cues[:5])):
        text = " ".join(words[first:second])
        if second < last:
            text += "\n" + " ".join(words[second:last])
        yield CueText(f"{_clock(begin)} --> {_clock(end)}", text)


def srt(cues: Sequence[CueText]) -> str:
    """Return cues as SubRip."""
    return "".join([f"{i}\n{times}\n{text}\n\n" for i, (times, text) in enumerate(cues, 1)])


def vtt(cues: Sequence[CueText], speakers: Sequence[str] = ()) -> str:
    """Return cues as WebVTT, with a voice tag `<v NAME>` if the speaker is known."""
    voices = [f"<v {escape(name, quote=False)}>" if name else "" for name in speakers or [""] * len(cues)]
    text = "".join([f"\n{times.replace(',', '.')}\n{voice}{escape(text, quote=False)}\n"
                    for (times, text), voice in zip(cues, voices)])
    return f"WEBVTT\n{text}"


def _clock(time: int) -> str:
    seconds, milliseconds = divmod(time, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{seconds:02},{milliseconds:03}"
