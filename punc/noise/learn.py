"""Confusions of data directories: reference words aligned with the ASR output of the same speech.

Words are aligned by `timing.align`. Between matched words are *regions* of some reference words and some ASR words. The
words of a region are paired by the project's rule, in order, the last words with each other: the first ASR words that
have no pair come with the first pair, so `100,000` can become `hundred thousand`; reference words without a pair are
deleted. A region without reference words is an insertion. In long regions the two texts are of different speech, as
where a question of the audience was not written down. They are left out, and counted.
"""

import logging
import os
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from punc.base.errors import InputError
from punc.data.datadir import DataDir, label_numbers
from punc.data.labels import LabelSet
from punc.noise.confusions import PLACES, Confusions
from punc.scoring.project import paired_streams
from punc.timing.align import align_words

logger = logging.getLogger(__name__)
LONGEST = 5  # words in a region, on either side


def learn(pairs: Sequence[tuple[str | os.PathLike, str | os.PathLike]], labels: LabelSet) -> tuple[Confusions, int]:
    """The confusions of pairs of a reference, with labels, and the ASR output of the same streams.

    Returns them, and how many reference words are in regions that were left out. Memory: one stream, and the counts.

    Raises InputError if a reference has no labels, if only one directory of a pair has a stream, or if nothing of them
    is alike.
    """
    found, left_out = Confusions(), 0
    has_mark = np.array([bool(label.mark) for label in labels])
    for ref_dir, asr_dir in pairs:
        ref, asr = DataDir(ref_dir), DataDir(asr_dir)
        if not ref.has_labels:
            raise InputError("no such file", "the reference needs labels: make it with punc prepare",
                             ref.path / "punct")
        for spoken, heard in paired_streams(ref, asr):
            left_out += add_stream(found, [word for u in spoken for word in u.words],
                                   [word for u in heard for word in u.words],
                                   has_mark[label_numbers(spoken, labels, ref.path)])
    if not found.seen:
        raise InputError("the words of the two are not of the same speech", "give each reference its own ASR output",
                         pairs[0][1])
    return found, left_out


def add_stream(found: Confusions, spoken: Sequence[str], heard: Sequence[str], marks: np.ndarray) -> int:
    """Count a stream.

    marks   bool (reference words,): whether a mark follows

    Returns how many reference words were left out.
    """
    alignment = align_words(spoken, heard)
    pairs = alignment.ref_to_hyp.tolist()
    matches = [(-1, -1), *((i, j) for i, j in enumerate(pairs) if j >= 0 and spoken[i] == heard[j]),
               (len(spoken), len(heard))]
    seen, known, left_out = Counter(spoken), Counter(heard), 0
    for (i, j), (next_i, next_j) in pairwise(matches):
        region, output = spoken[i + 1:next_i], heard[j + 1:next_j]
        if max(len(region), len(output)) > LONGEST:
            left_out += len(region)
            seen.subtract(region)
            known.subtract(output)
        elif region:
            found.runs += 1
            found.replaced.update(zip(region, replacements(len(region), output)))
        elif 0 <= i < next_i < len(spoken):
            place = PLACES[int(marks[i])]
            found.slots[place] += 1
            if output:
                found.inserted[place, tuple(output)] += 1
    found.seen.update(+seen)
    found.heard.update(+known)
    return left_out


def replacements(words: int, output: Sequence[str]) -> list[tuple[str, ...]]:
    """What stands in the place of each of some reference words, by the pairing rule."""
    more = max(len(output) - words, 0)
    first = [tuple(output[:more + 1]), *((word,) for word in output[more + 1:])] if output else []
    return [*first, *[()] * (words - len(first))]
