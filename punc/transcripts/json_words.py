"""Merges lists that repeat the same words in a JSON file, for example with times in one list and marks in another."""

import math
from bisect import bisect_right
from itertools import chain, islice, pairwise
from typing import Any

import numpy as np

from punc.timing.align import align_words
from punc.transcripts.json_shape import getter, seconds, speaker_name
from punc.transcripts.transcript import BEGINS_WITH_BLANK, Text, folded, split

BRACKETS = tuple("[({<")
UNITS = (1, 1e3, 1e6, 1e7, 1e9)  # units per second, for seconds, milliseconds, microseconds, ticks and nanoseconds
USUAL = 0.35  # s; the usual duration of a word
NOT_SAID = Text(-1, "")
FROM, WHO = getter("from|start_time|time"), getter("speaker|speaker_label|name")  # time and speaker of a turn


def joined(texts: list[Text]) -> list[Text]:
    """Mark each text, except the first, as joined to the previous text unless there is a space between them or the text
    begins with a bracket."""
    found = texts[:1]
    for before, text in pairwise(texts):
        blank = BEGINS_WITH_BLANK.match(text.text) or BEGINS_WITH_BLANK.match(before.text[-1:])
        apart = blank or text.text.startswith(BRACKETS)
        found.append(text if apart else text._replace(joined=True))
    return found


def in_seconds(texts: list[Text]) -> list[Text]:
    """Convert the times of texts to seconds. The unit of the times is guessed from the duration of words."""
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


def with_said(texts: list[Text], said: list[Text]) -> list[Text]:
    """Fill in missing times and speakers of texts from other texts, `said`, that repeat their words."""
    timed, theirs = (sum(text.begin == text.begin for text in some) for some in (texts, said))
    named = not any(text.speaker for text in said) or all(text.speaker for text in texts)
    if timed >= theirs and named and sum(len(split(text.text)) for text in said) <= len(texts):
        return texts
    new = by_word(said)
    old = [split(text.text) for text in texts]
    old_words = list(map(folded, chain.from_iterable(old)))
    same = iter(_same_words(old_words, [folded(word.text) for word in new]))
    found = []
    for text, own in zip(texts, old):
        words = [new[i] if i >= 0 else NOT_SAID for i in islice(same, len(own))]
        speaker = next((word.speaker for word in words if word is not NOT_SAID), "")
        text = text._replace(speaker=text.speaker or speaker)
        if len(words) == 1 and not text.times:
            text = text._replace(begin=known(text.begin, words[0].begin), end=known(text.end, words[0].end))
        elif words and not text.times:
            text = text._replace(begin=known(words[0].begin, text.begin), end=known(words[-1].end, text.end))
            spans = [(word.begin, word.end) for word in words]
            spans[0] = (text.begin, spans[0][1])
            spans[-1] = (spans[-1][0], text.end)
            text = text._replace(times=tuple(spans))
        found.append(text)
    return found


def by_word(texts: list[Text]) -> list[Text]:
    """Split each text into texts of one word. The first word gets the start time of the text, and the last word gets
    its end time."""
    found = []
    for text in texts:
        words = split(text.text)
        for number, word in enumerate(words):
            found.append(text._replace(text=word, begin=text.begin if number == 0 else math.nan,
                                       end=text.end if number == len(words) - 1 else math.nan))
    return found


def known(time: float, other: float) -> float:
    return other if math.isnan(time) else time


def _same_words(old: list[str], new: list[str]) -> list[int]:
    """Return, for each old word, the index of the equal new word, or of the new word that replaces it if the words on
    both sides are equal; -1 if there is neither."""
    number = [-1, *align_words(old, new).ref_to_hyp.tolist(), len(new)]
    equal = [True, *(i >= 0 and new[i] == word for word, i in zip(old, number[1:])), True]
    found = []
    for at in range(1, len(old) + 1):
        alone = number[at - 1] + 1 == number[at] == number[at + 1] - 1
        between = alone and equal[at - 1] and equal[at + 1]
        found.append(number[at] if equal[at] or between else -1)
    return found


def in_order_of(texts: list[Text], said: list[Text]) -> list[Text] | None:
    """Return `said`, which repeats the `texts` of several streams, in the order of `texts`; None if impossible."""
    if len(said) != len(texts) or len({text.stream for text in texts}) < 2:
        return None
    index: dict[tuple[float, str], Text] = {}
    last = math.nan
    for text in said:
        begin, last = (last, last) if math.isnan(text.begin) else (text.begin, text.end)
        index[begin, text.text] = text
    order = [index[text.begin, text.text] for text in texts if (text.begin, text.text) in index]
    return order if len({text.place for text in order}) == len(texts) else None


def with_speakers(texts: list[Text], labels: list[Any]) -> list[Text]:
    """Return the texts with speakers. A text without a speaker gets the speaker of the turn in which it begins.
    `labels`: the start time and the speaker of each turn."""
    turns = []
    for label in labels:
        begin, name = seconds(FROM(label)), WHO(label)
        if begin == begin and name is not None:
            turns.append((begin, speaker_name(name)))
    turns.sort()
    begins = [begin for begin, _ in turns]
    found = []
    for text in texts:
        at = bisect_right(begins, text.begin + 1e-6) - 1 if text.begin == text.begin else -1
        found.append(text._replace(speaker=turns[at][1]) if at >= 0 and not text.speaker else text)
    return found
