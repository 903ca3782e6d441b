"""Finds where sentences end and which words belong together, for subtitles; cuts text into paragraphs.

Most words are judged by their spelling: the words of a name begin with capitals, a number begins or ends with a digit,
and an initial is one capital with a point. Only number words (*one*, *hundred*) need a list, number_words.txt.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import repeat
from operator import itemgetter
from pathlib import Path

import numpy as np

from punc.base.files import read_lines
from punc.base.runs import next_of, previous_of
from punc.data.labels import LabelSet, with_capital

NO_MARK, MARK, SENTENCE_END = 0, 1, 2  # what is written after a word
SPELLED, BETWEEN = 1, 2  # kinds of number words
LONG = 2.0  # s; a silence this long ends a cue and, after a sentence, also a paragraph
OPENING = "¿¡\"“”„‚‘«»‹›"  # may stand before the first letter of a sentence; an apostrophe stands for letters ('s)
PARAGRAPH = 120  # words; a paragraph ends at the first sentence end after this many words


def marks_after(words: Sequence[str], labels: np.ndarray, label_set: LabelSet) -> np.ndarray:
    """Return NO_MARK, MARK or SENTENCE_END for each word, int8 (N,), given the written words and label numbers (N,).

    An initial before a capital does not end a sentence, nor does a point between two digits: `mister E. G. Wakefield`
    is one sentence, and so is `version 2. 5`. As a side effect, `plan B.` does not end a sentence before a
    capital, either.
    """
    ends = label_set.sentence_ends
    kinds = [SENTENCE_END if label.name in ends else MARK if label.mark else NO_MARK for label in label_set]
    marks = np.array(kinds, np.int8)[labels]
    at = np.flatnonzero(marks[:-1] == SENTENCE_END).tolist()
    marks[[i for i in at if _goes_on(words[i], words[i + 1])]] = NO_MARK
    return marks


def _goes_on(word: str, following: str) -> bool:
    """Return whether a name or a number continues after a word despite the mark of a sentence end."""
    if len(word) < 2 or word[-1] != ".":
        return False
    return (len(word) == 2 and word[0].isupper() and following[:1].isupper()) or \
        (word[-2].isdigit() and following[:1].isdigit())


def tied(words: Sequence[str], marks: np.ndarray) -> np.ndarray:
    """Return whether a name or a number continues after each word, bool (N,). If so, a line should not end after the
    word.

    A name continues if a word with a capital is followed, without a mark, by a capital or a digit: Ada Lovelace, April
    14. A number continues after a digit (10 million) and between the words of a spelled number (two hundred and one).
    """
    def each(values: Iterable[bool]) -> np.ndarray:
        return np.fromiter(values, bool, len(words))

    begins, known = list(map(itemgetter(0), words)), number_words()
    capitals = each(map(str.isupper, begins))
    digits = each(map(str.isdigit, begins))
    numbers = each(map(str.isdigit, map(itemgetter(-1), words)))
    kinds = np.fromiter(map(known.get, words, repeat(0)), np.int8, len(words))
    spelled, between, following = kinds == SPELLED, kinds == BETWEEN, np.zeros(len(words), bool)
    at = np.flatnonzero(kinds[:-1])
    following[at] = [known.get(words[i + 1].rstrip(".,?!;:")) == SPELLED for i in at.tolist()]
    # in `hundred and one`, each word is tied to the next
    joined = spelled & next_of(between & following, False)
    joined |= previous_of(joined, False)
    inside = numbers | (capitals & next_of(capitals | digits, False)) | (spelled & following) | joined
    return (marks == NO_MARK) & inside


@cache
def number_words() -> dict[str, int]:
    """Map number words, in lower case and with a capital, to SPELLED. Words that can join two of them, such as *and*,
    map to BETWEEN."""
    found = {}
    for _, line in read_lines(Path(__file__).with_name("number_words.txt")):
        *between, word = line.split()
        found[word] = found[with_capital(word)] = BETWEEN if between else SPELLED
    return found


def capitalized(words: Sequence[str], marks: np.ndarray, starts: np.ndarray, turns: np.ndarray) -> list[str]:
    """Return the words, with a capital added at `starts` and after the end of each sentence or turn. Words that already
    contain a capital, such as iPhone, do not change."""
    words = list(words)
    for i in {*starts.tolist(), *(np.flatnonzero((marks == SENTENCE_END) | turns) + 1).tolist()}:
        if i < len(words) and words[i].islower():
            core = words[i].lstrip(OPENING)
            words[i] = words[i][:len(words[i]) - len(core)] + with_capital(core)
    return words


def paragraphs(words: Sequence[str], marks: np.ndarray, pauses: np.ndarray | None, turns: np.ndarray) -> str:
    """Return the words of one recording as paragraphs, separated by empty lines. For `words`, `marks` and `turns`, see
    `make_cues`. `pauses`, (N,): the silence after each word in seconds, or NaN if unknown; None: all are unknown.

    A paragraph ends where the speaker changes. A paragraph also ends at the end of a sentence if a silence of at least
    LONG seconds follows or if the paragraph contains at least PARAGRAPH words. A silence inside a sentence does not end
    a paragraph.
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
