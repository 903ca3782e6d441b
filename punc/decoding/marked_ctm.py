"""Writes the words of a CTM with the marks of a punctuated data directory."""

import logging
from collections import Counter
from collections.abc import Iterator
from itertools import chain

import numpy as np

from punc.base.errors import StrPath
from punc.data.datadir import DataDir, Utterance
from punc.data.labels import LabelSet
from punc.text.prose import written
from punc.timing.align import align_words, folded, project_labels
from punc.timing.pauses import TimedWord, Timing, read_channels, times_of_stream
from punc.transcripts.ctm import CtmIndex, write_ctm

logger = logging.getLogger(__name__)


def write_marked_ctm(path: StrPath, ctm: StrPath, data: DataDir, label_set: LabelSet) -> None:
    """Write the words of `ctm` in stream order, each with the mark of its slot. Silences are left out.

    The CTM's ids are stream or utterance ids, as in `timing.pauses`. If the words of the CTM and the text differ in
    more than case, they are aligned, and the labels of the text's words move to the CTM's words (`timing.align`).
    Memory holds one stream. Raises InputError for a broken CTM.
    """
    index, counts = CtmIndex(ctm), Counter[str]()
    write_ctm(path, _marked(index, data, label_set, counts))
    if missing := counts["missing"]:
        logger.warning("%s: no times for %d utterances", ctm, missing)


def _marked(index: CtmIndex, data: DataDir, label_set: LabelSet, counts: Counter) -> Iterator[TimedWord]:
    channels = read_channels(data.path / "reco2file_and_channel")
    for stream, utterances in data.streams():
        timing = times_of_stream(stream, index, channels)
        if timing is not None:
            yield from _of_timing(timing, utterances, label_set)
            continue
        for utterance in utterances:
            if utterance.id in index:
                yield from _of_timing(index[utterance.id](), [utterance], label_set)
            else:
                counts["missing"] += 1


def _of_timing(timing: Timing, utterances: list[Utterance], label_set: LabelSet) -> Iterator[TimedWord]:
    text = folded(word for utterance in utterances for word in utterance.words)
    words = [row.word for row in timing.words]
    names = list(chain.from_iterable(utterance.labels or () for utterance in utterances))
    timed = folded(words)
    if text != timed:
        numbers = np.array([label_set.index(name) for name in names], np.int64)
        carried = project_labels(align_words(text, timed), numbers)
        names = np.array(label_set.names, object)[carried].tolist()
    return (row._replace(word=word) for row, word in zip(timing.words, written(words, names, label_set)))
