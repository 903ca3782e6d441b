"""A recogniser's words, as a CTM has them, to a data directory without labels.

The ids of the CTM are the streams; each is cut into utterances of some words, and where it is cut means nothing. The
pauses are those of the CTM, which is in the directory too, so that its words can be written with marks and times.
"""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from punc.base.files import atomic_dir
from punc.data.datadir import Utterance, write_tables
from punc.text.chunks import in_order, utterance_id
from punc.text.prose_reader import legal
from punc.timing.ctm import CtmIndex, TimedWord, write_ctm
from punc.timing.pauses import slot_pauses


def prepare_ctm(path: str | os.PathLike, output: str | os.PathLike, lowercase: bool = True,
                utt_words: int = 50) -> Counter:
    """Write the data directory of a CTM, or of a directory of CTMs.

    lowercase   write words in lower case; the CTM in the directory keeps their case
    utt_words   words of an utterance

    Returns counts: streams, utterances, words, and what was mended (punc.timing.ctm). Memory is one stream. An id whose
    lines are all silences is left out. Raises InputError for a broken CTM; the output is then as it was.
    """
    counts, repairs = Counter(), Counter()
    index = CtmIndex(path, repairs=repairs)

    def timings() -> Iterator[tuple[str, list[TimedWord], float | None]]:
        for id in in_order(index):
            timing = index[id]()
            if timing.words:
                yield id, timing.words, timing.end

    def utterances() -> Iterator[Utterance]:
        for id, words, end in timings():
            counts.update(streams=1, words=len(words))
            for utterance in cut(id, words, end, lowercase, utt_words):
                counts["utterances"] += 1
                yield utterance

    output = Path(os.path.abspath(output))  # the index of the pauses names their archive from any directory
    with atomic_dir(output) as tmp:
        write_tables(tmp, output, utterances())
        counts += repairs  # before the words are read again
        write_ctm(tmp / "ctm", (word for _, words, _ in timings() for word in words))
    (output / "punct").unlink(missing_ok=True)  # of an older text
    return counts


def cut(id: str, words: list[TimedWord], end: float | None, lowercase: bool, size: int) -> Iterator[Utterance]:
    """Utterances of `size` words; the pause after the last word is known where the recording's `end` (s) is."""
    times = np.array([(word.begin, word.begin + word.duration) for word in words])
    pauses = slot_pauses(times, np.arange(len(words)), end)
    texts = [legal(word.word.lower() if lowercase else word.word) for word in words]
    for number, begin in enumerate(range(0, len(words), size), 1):
        part = slice(begin, begin + size)
        yield Utterance(utterance_id(id, number), id, texts[part], None, pauses[part])
