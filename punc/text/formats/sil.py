"""Words, pauses and marks, separated by spaces: `word <sil=0.123> ,COMMA word .PERIOD`.

A mark is written as its character, followed by a name from NAMES or from the label set. Other names do not count, so
`'CAUSE` and `$MILLION` are words. If no input contains pauses, the output has none. A pipe is assumed to contain
pauses, because it cannot be read twice.

These repairs are counted:

- A negative pause or a negative zero becomes 0.
- A mark that the label set does not read is dropped.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from punc.base.errors import StrPath
from punc.data.datadir import LATEST
from punc.text.file_parts import file_parts
from punc.text.format import STREAM_OPTIONS, TextFormat
from punc.text.passages import Passage, Unreadable
from punc.text.prose import legal

SILENCE = re.compile(r"<sil=([^>]*)>")
SPELT_MARK = re.compile(r"([^\w\s<]+)([A-Z]{4,})")
NAMES = frozenset(("COMMA", "PERIOD", "QUESTIONMARK", "EXCLAMATIONMARK", "COLON", "SEMICOLON", "DASH"))


class Format(TextFormat):
    """Reads words with the mark and the pause after each."""

    takes = (*STREAM_OPTIONS, "lowercase")

    def has_pauses(self, inputs: Sequence[StrPath]) -> bool:
        return any(not os.path.isfile(path) or any(b"<sil=" in part.data for part in file_parts([path], b">"))
                   for path in inputs)

    def passages(self, text: str, line_start: bool, repairs: Counter[str]) -> Iterator[Passage]:
        for stream, part in self.streams(text, line_start):
            yield self._passage(part.split(), repairs)._replace(stream=stream)

    def _passage(self, items: Sequence[str], repairs: Counter[str]) -> Passage:
        words: list[str] = []
        labels: list[str] = []
        pauses: list[float] = []
        lead = ""
        lead_pause = None
        names = NAMES.union(self.reader.labels.names)
        for item in items:
            if silence := SILENCE.fullmatch(item):
                pause = read_pause(silence[1], repairs)
                if words:
                    pauses[-1] = pause
                else:
                    lead_pause = pause
            elif (mark := SPELT_MARK.fullmatch(item)) and mark[2] in names:
                label = self.reader.labels.reading([mark[1]])
                if mark[1] not in self.reader.labels.marks:
                    repairs["marks that the label set does not read, dropped"] += 1
                elif words:
                    labels[-1] = self.reader.attach(labels[-1], label)
                else:
                    lead = self.reader.attach(lead, label) if lead else label
            else:
                words.append(legal(item.lower() if self.reader.lowercase else item))
                labels.append(self.reader.labels[0].name)
                pauses.append(np.nan)
        return Passage(" ".join(words), " ".join(labels), np.array(pauses, np.float32), lead, lead_pause)


def read_pause(value: str, repairs: Counter[str]) -> float:
    """Return a pause in seconds. Raises Unreadable if `value` is not a pause."""
    try:
        pause = float(value)
        if not pause < LATEST:
            raise ValueError
    except ValueError:
        raise Unreadable(f"'{value}' is not a pause", "write <sil=SECONDS>", f"<sil={value}>") from None
    if value.startswith("-"):
        repairs["negative pauses, taken as 0"] += 1
    return max(pause, 0.0) + 0.0
