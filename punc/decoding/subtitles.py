"""Timed words with their marks to cues of subtitles, SRT and WebVTT; words with marks to paragraphs.

A cue is at most two lines of LINE characters (a longer word has a line to itself). It ends with the sentence, except
that sentences are joined while together they fit one line, and one of FEW characters with the next if two lines hold
them; it ends at a silence of LONG seconds, too. A sentence of several cues is cut behind a mark if one leaves FEW
characters on either side, else at a pause, else where the parts are about as long as each other; the same goes for
the two lines, pauses aside. A cue is shown from its first word to its last, and on until it has been there for LEAST
seconds and can be read at SPEED, as far as the next one allows; gaps below GAP seconds are closed. No two overlap.

All cues of many recordings are found at once, in arrays: a few steps for each cue that a sentence has at most.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from punc.data.labels import LabelSet, with_capital

LINE = 42  # characters
FEW = 14  # characters; less is not put on its own for the sake of a mark or a pause
SPEED = 17  # characters a second
LEAST = 1.0  # s
PAUSE = 0.2  # s; a silence at which a sentence may be cut
LONG = 2.0  # s; no cue goes on over such a silence; after a sentence, it ends the paragraph
GAP = 0.25  # s; a shorter time without any cue flickers
APART = 0.2  # s from the beginning of a cue to the next one's, where speech overlaps
PARAGRAPH = 120  # words; the first sentence that ends behind so many ends the paragraph

# What is written after a word: nothing, a mark, the end of a sentence (Unicode's Sentence_Terminal, most of it).
NOTHING, MARK, END = 0, 1, 2
TERMINALS = frozenset(".!?…‼⁇⁈⁉։؟۔।॥။።።፧。！．？｡")


class Cues(NamedTuple):
    """Cues in order, int64 (C,) each: words [first, last), of which those from `second` are on the second line.

    second        `last` where there is one line only
    begin, end    milliseconds
    """

    first: np.ndarray
    second: np.ndarray
    last: np.ndarray
    begin: np.ndarray
    end: np.ndarray


def marks_after(labels: np.ndarray, label_set: LabelSet) -> np.ndarray:
    """NOTHING, MARK or END after each word, int8 (N,), of label numbers."""
    kinds = [END if set(label.mark) & TERMINALS else MARK if label.mark else NOTHING for label in label_set]
    return np.array(kinds, np.int8)[labels]


def capitalized(words: Sequence[str], marks: np.ndarray, starts: np.ndarray) -> list[str]:
    """The words with a capital at `starts` (recordings, say) and where a sentence ended before."""
    words = list(words)
    for i in {*starts.tolist(), *(np.flatnonzero(marks[:-1] == END) + 1).tolist()}:
        words[i] = with_capital(words[i])
    return words


def cues(words: Sequence[str], marks: np.ndarray, begins: np.ndarray, ends: np.ndarray, turns: np.ndarray,
         recordings: np.ndarray) -> Cues:
    """Cut words into cues.

    words          as they are written, marks and all
    marks          (N,) what is written after each, as `marks_after` has it
    begins, ends   (N,) seconds from the start of the recording
    turns          (N,) bool: behind this word the speaker changes
    recordings     int64 (R,): where each recording's words end, the last of them N; none is empty
    """
    if not len(words):
        return Cues(*np.zeros((5, 0), np.int64))
    text = _Text(words)
    silence = np.append(begins[1:] - ends[:-1], 0.0)
    bounds = turns | (silence >= LONG)
    bounds[recordings - 1] = True
    first, last = _split(*_joined(text, marks, bounds), text, np.where(marks == MARK, 2, silence >= PAUSE))
    starts, stops = _shown(text.length(first, last), begins[first], ends[last - 1],
                           np.searchsorted(recordings, first, "right"))
    return Cues(first, _second_lines(first, last, text, marks), last, starts, stops)


class _Text:
    """The words in one line with a blank between: where each begins and ends, and how far a line reaches."""

    def __init__(self, words: Sequence[str]):
        sizes = np.fromiter(map(len, words), np.int64, len(words))
        self.ends = np.cumsum(sizes + 1) - 1
        self.begins = self.ends - sizes
        # The word behind the last one of a line that begins with this word.
        self.line = np.maximum(np.searchsorted(self.ends, self.begins + LINE, "right"), np.arange(1, len(words) + 1))

    def length(self, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Characters of the words [first, last)."""
        return self.ends[last - 1] - self.begins[first]

    def reach(self, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """How far two lines reach that begin with `first`, at most to `last`."""
        line = np.minimum(self.line[first], last)
        return np.where(line < last, np.minimum(self.line[np.minimum(line, len(self.line) - 1)], last), last)


def _joined(text: _Text, marks: np.ndarray, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and last word of each sentence, or of short sentences that fit one line together."""
    last = np.flatnonzero((marks == END) | bounds) + 1
    first = np.append(0, last[:-1])
    limits = np.flatnonzero(bounds) + 1
    limit = limits[np.searchsorted(limits, first, "right")]
    # The sentence behind those that a line beginning with this one holds, or two lines this one and the next.
    number = np.arange(1, len(last) + 1)
    following = np.maximum(np.searchsorted(last, np.minimum(text.line[first], limit), "right"), number)
    pair = np.minimum(np.searchsorted(last, text.reach(first, limit), "right"), number + 1)
    following = np.where(text.length(first, last) <= FEW, np.maximum(following, pair), following).tolist()
    chosen, at = [], 0
    while at < len(following):
        chosen.append(at)
        at = following[at]
    return first[chosen], np.append(first[chosen[1:]], last[-1])


def _split(first: np.ndarray, last: np.ndarray, text: _Text, rank: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cut what is longer than two lines, the first cues of all of them at a time, then the second ones, …

    rank   (N,): how good a place to cut is behind each word
    """
    done = []
    while len(first):
        reach = text.reach(first, last)
        whole = reach == last
        done.append((first[whole], last[whole]))
        first, last, reach = first[~whole], last[~whole], reach[~whole]
        size = text.length(first, last)
        ideal = size / np.ceil(size / (2 * LINE))

        def score(row: np.ndarray, at: np.ndarray, first=first, size=size, ideal=ideal) -> np.ndarray:
            length = text.length(first[row], at)
            enough = (length >= FEW) & (size[row] - length > FEW)
            return np.where(enough, rank[at - 1], -1) * (4.0 * LINE) - np.abs(length - ideal[row])

        cut = _best(first + 1, reach + 1, score)
        done.append((first, cut))
        first = cut
    firsts, lasts = (np.sort(np.concatenate(parts)) for parts in zip(*done))
    return firsts, lasts


def _second_lines(first: np.ndarray, last: np.ndarray, text: _Text, marks: np.ndarray) -> np.ndarray:
    """The first word of each cue's second line; `last` where one line holds the cue."""
    second = last.copy()
    two = np.flatnonzero(text.line[first] < last)
    first, last = first[two], last[two]
    high = np.minimum(text.line[first], last - 1)
    low = np.searchsorted(text.begins, text.ends[last - 1] - LINE)  # from here on one line reaches the cue's end
    low = np.minimum(np.maximum(low, first + 1), high)

    def score(row: np.ndarray, at: np.ndarray) -> np.ndarray:
        unequal = np.abs(text.length(first[row], at) - text.length(at, last[row]))
        return np.where(marks[at - 1] > NOTHING, 2.0 * FEW, 0.0) - unequal

    second[two] = _best(low, high + 1, score)
    return second


def _best(low: np.ndarray, high: np.ndarray, score: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
    """For each row the number in [low, high) whose score(row, number) is highest; the first of equal ones."""
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
    """From when to when cues are shown, in milliseconds, of the times of their words in seconds."""
    far = (recordings + 1) * (1 << 40)  # of another recording: 30 years away
    number = np.arange(len(begins)) * round(1000 * APART)
    starts = np.maximum.accumulate(np.rint(1000 * begins).astype(np.int64) + far - number) + number
    needed = np.ceil(1000 * np.maximum(LEAST, sizes / SPEED)).astype(np.int64)
    stops = np.maximum(np.rint(1000 * ends).astype(np.int64) + far, starts + needed)
    following = np.append(starts[1:], starts[-1:] + (1 << 40))
    stops = np.where(stops > following - round(1000 * GAP), following, stops)
    return starts - far, stops - far


class Block(NamedTuple):
    """What a file of subtitles says of a cue: `00:00:01,500 --> 00:00:02,750`, and one line of text or two."""

    times: str
    text: str


def blocks(words: Sequence[str], cues: Cues) -> Iterator[Block]:
    """The cues as they are written."""
    columns = [column.tolist() for column in cues[:3]]
    for first, second, last, begin, end in zip(*columns, _clock(cues.begin), _clock(cues.end)):
        text = " ".join(words[first:second])
        yield Block(f"{begin} --> {end}", text if second == last else f"{text}\n{' '.join(words[second:last])}")


def srt(blocks: Sequence[Block]) -> str:
    """Cues as SubRip."""
    return "".join([f"{i}\n{times}\n{text}\n\n" for i, (times, text) in enumerate(blocks, 1)])


def vtt(blocks: Sequence[Block]) -> str:
    """Cues as WebVTT."""
    text = "".join([f"\n{times.replace(',', '.')}\n{_escaped(text)}\n" for times, text in blocks])
    return f"WEBVTT\n{text}"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _clock(times: np.ndarray) -> list[str]:
    """Milliseconds as 00:00:00,000; more digits for 100 hours and more."""
    if not len(times):
        return []
    hours, rest = np.divmod(times, 3_600_000)
    wide = max(2, len(str(int(hours.max()))))
    digits = [hours // 10 ** i % 10 for i in reversed(range(wide))]
    digits += [rest // 600_000, rest // 60_000 % 10, rest // 10_000 % 6, rest // 1000 % 10]
    digits += [rest // 100 % 10, rest // 10 % 10, rest % 10]
    table = np.stack(digits, axis=1).astype(np.uint8) + ord("0")
    colon, comma = (np.full((len(times), 1), ord(char), np.uint8) for char in ":,")
    parts = np.split(table, [wide, wide + 2, wide + 4], axis=1)
    text = np.hstack([parts[0], colon, parts[1], colon, parts[2], comma, parts[3]]).tobytes().decode()
    size = wide + 10
    return [text[i:i + size] for i in range(0, len(text), size)]


def paragraphs(words: Sequence[str], marks: np.ndarray, pauses: np.ndarray | None, turns: np.ndarray) -> str:
    """One recording's words as paragraphs, with an empty line between: a new one where the speaker changes, and behind
    a sentence where there is a silence of LONG seconds, or the paragraph has PARAGRAPH words."""
    breaks = turns.copy()
    if pauses is not None:
        breaks |= (marks == END) & (pauses >= LONG)  # NaN is not
    parts, start = [], 0
    for at in (np.flatnonzero((marks == END) | breaks) + 1).tolist():
        if breaks[at - 1] or at - start >= PARAGRAPH:
            parts.append(" ".join(words[start:at]))
            start = at
    parts += [" ".join(words[start:])] * (start < len(words))
    return "\n\n".join(parts) + "\n" if parts else ""
