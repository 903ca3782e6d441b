"""ASR output with times, in a CTM or a directory of CTMs: words and pauses, without labels.

Each id of the CTM is a stream, which is cut into utterances of a fixed number of words. The data directory gets a copy
of the CTM, so that the words can later be written with marks and times.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from punc.base.errors import InputError, StrPath
from punc.data.datadir import Utterance, new_data_dir, write_utterances
from punc.data.tables import TURNS
from punc.text.format import Format as BaseFormat
from punc.text.passages import sorted_streams, utterance_id
from punc.text.prose import legal
from punc.timing.pauses import TimedWord, slot_pauses
from punc.transcripts.ctm import CtmIndex, write_ctm


class Format(BaseFormat):
    """Reads one CTM, or one directory of CTMs. Even with `lowercase`, the copy of the CTM keeps its case."""

    takes = ("lowercase", "utt_words")

    def prepare(self, inputs: Sequence[StrPath], output: StrPath) -> Counter[str]:
        """Write a data directory (see `Format.prepare`). Ids that have silences but no words are left out. Only one
        stream is in memory at a time."""
        if len(inputs) > 1:
            raise InputError(f"{len(inputs)} inputs instead of one", "give one CTM, or a directory of CTMs")
        counts, repairs = Counter[str](), Counter[str]()
        index = CtmIndex(inputs[0], repairs=repairs)
        output = Path(os.path.abspath(output))
        with new_data_dir(output, "punct", TURNS) as tmp:  # old files with labels or turns are removed
            write_utterances(tmp, output, self._utterances(index, sorted_streams(index), counts))
            # Added before `write_ctm`, for which `timings` reads the words again and counts the repairs a second time.
            counts += repairs
            write_ctm(tmp / "ctm", (word for _, words, _ in timings(index, sorted_streams(index)) for word in words))
        return counts

    def _utterances(self, index: CtmIndex, ids: Iterable[str], counts: Counter[str]) -> Iterator[Utterance]:
        size = self.options.utt_words
        for id, words, end in timings(index, ids):
            times = np.array([(word.begin, word.begin + word.duration) for word in words])
            pauses = slot_pauses(times, np.arange(len(words)), end)
            texts = [legal(word.word.lower() if self.options.lowercase else word.word) for word in words]
            counts.update(streams=1, words=len(words))
            for number, begin in enumerate(range(0, len(words), size), 1):
                counts["utterances"] += 1
                part = slice(begin, begin + size)
                yield Utterance(utterance_id(id, number), id, texts[part], None, pauses[part])


def timings(index: CtmIndex, ids: Iterable[str]) -> Iterator[tuple[str, list[TimedWord], float | None]]:
    """Yield (id, words, end of the recording in seconds or None) for each id that has words."""
    for id in ids:
        timing = index[id]()
        if timing.words:
            yield id, timing.words, timing.end


