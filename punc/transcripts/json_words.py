"""Words of JSON that stand in several places, with times in one and marks in another, or with speakers in a list."""

import math
from bisect import bisect_right
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from punc.base.runs import bounds_of
from punc.timing.align import align_words
from punc.transcripts.json_paths import seconds, speaker_name
from punc.transcripts.transcript import BEGINS_WITH_BLANK, Text, folded, split

BRACKETS = tuple("[({<")
UNITS = (1, 1e3, 1e6, 1e7, 1e9)  # how many a second: seconds, milliseconds, microseconds, ticks, nanoseconds
USUAL = 0.35  # seconds of a word


class Said(NamedTuple):
    """Words that repeat others: their texts, times and speakers."""

    words: list[str]
    spans: list[tuple[float, float]]
    speakers: list[str]


def begins_with_blank(text: str) -> bool:
    """Whether a text is written with the blank before it."""
    return BEGINS_WITH_BLANK.match(text) is not None


def joined(texts: list[Text]) -> list[Text]:
    """Of texts of which those begin with a blank that begin a word, all but the first: others go on the word before."""
    found = texts[:1]
    for before, text in pairwise(texts):
        apart = begins_with_blank(text.text) or text.text.startswith(BRACKETS) or begins_with_blank(before.text[-1:])
        found.append(text if apart else text._replace(joined=True))
    return found


def in_seconds(texts: list[Text]) -> list[Text]:
    """Texts whose times are in a unit that is guessed from how long a word takes."""
    counts = np.array([len(split(text.text)) for text in texts], float)
    begins = np.array([text.begin for text in texts])
    ends = np.array([text.end for text in texts])
    if len(texts) > 1 and not np.isfinite(ends - begins).any():
        ends[:-1] = begins[1:]
    with np.errstate(all="ignore"):
        lengths = (ends - begins) / counts
    lengths = lengths[np.isfinite(lengths) & (lengths > 0)]
    if not len(lengths):
        return texts
    usual = float(np.median(lengths))
    unit = min(UNITS, key=lambda unit: abs(math.log(usual / unit / USUAL)))
    return texts if unit == 1 else [
        text._replace(begin=text.begin / unit, end=text.end / unit,
                      times=tuple((begin / unit, end / unit) for begin, end in text.times)) for text in texts]


def with_said(texts: list[Text], said: Said) -> list[Text]:
    """Texts with the times and speakers of words that repeat them, where they have none."""
    timed = sum(text.begin == text.begin for text in texts) >= sum(begin == begin for begin, _ in said.spans)
    if timed and len(said.words) <= len(texts) and (not any(said.speakers) or all(text.speaker for text in texts)):
        return texts
    split_texts = [split(text.text) for text in texts]
    old = [folded(word) for words in split_texts for word in words]
    new = [folded("".join(split(word))) for word in said.words]
    number = list(range(len(old))) if old == new else _trusted(old, new)
    found, bounds = [], bounds_of(list(map(len, split_texts))).tolist()
    for text, begin, end in zip(texts, bounds, bounds[1:]):
        own = number[begin:end]
        spans = [said.spans[i] if i >= 0 else (math.nan, math.nan) for i in own]
        speaker = text.speaker or next((said.speakers[i] for i in own if i >= 0), "")
        if not spans or text.times:
            found.append(text._replace(speaker=speaker))
            continue
        first = spans[0][0] if math.isnan(text.begin) or len(spans) > 1 else text.begin
        last = spans[-1][1] if math.isnan(text.end) or len(spans) > 1 else text.end
        first, last = text.begin if math.isnan(first) else first, text.end if math.isnan(last) else last
        spans[0] = first, spans[0][1]
        spans[-1] = spans[-1][0], last
        found.append(text._replace(begin=first, end=last, speaker=speaker,
                                   times=tuple(spans) if len(spans) > 1 else ()))
    return found


def _trusted(old: list[str], new: list[str]) -> list[int]:
    """For each old word the new one that is equal, or stands alone between two equal ones; -1 if there is none."""
    number = align_words(old, new).ref_to_hyp.tolist()
    equal = [i >= 0 and new[i] == word for word, i in zip(old, number)]
    before, after = [-1, *number[:-1]], [*number[1:], len(new)]
    equal_before, equal_after = [True, *equal[:-1]], [*equal[1:], True]
    return [i if same or (low and high and left == i - 1 and right == i + 1) else -1 for i, same, low, high, left, right
            in zip(number, equal, equal_before, equal_after, before, after)]


def in_order_of(texts: list[Text], said: Said) -> list[int] | None:
    """The numbers of words that repeat texts, in the order of the texts, known by their begins; None if there is none.

    So channels repeat the words of a whole recording.
    """
    if len(said.words) != len(texts) or len({text.stream for text in texts}) < 2:
        return None
    index: dict[tuple[float, str], int] = {}
    last = math.nan
    for i, (word, (begin, end)) in enumerate(zip(said.words, said.spans)):
        begin, last = (last, last) if math.isnan(begin) else (begin, end)
        index[begin, word] = i
    order = [index.get((text.begin, text.text), -1) for text in texts]
    return order if len(set(order)) == len(texts) and min(order) >= 0 else None


def with_speakers(texts: list[Text], labels: list[Any]) -> list[Text]:
    """Texts with the speaker that a list says for their begins, if they have none."""
    known = []
    for label in labels:
        if isinstance(label, dict):
            begin = next((seconds(label[name]) for name in ("from", "start_time", "time") if name in label), math.nan)
            name = next((label[name] for name in ("speaker", "speaker_label", "name") if name in label), None)
            if begin == begin and name is not None:
                known.append((begin, speaker_name(name)))
    known.sort()
    begins = [begin for begin, _ in known]
    found = []
    for text in texts:
        at = bisect_right(begins, text.begin + 1e-6) - 1 if text.begin == text.begin else -1
        found.append(text._replace(speaker=known[at][1]) if at >= 0 and not text.speaker else text)
    return found
