"""Who speaks when: NIST's RTTM, as diarization systems write it, and the speaker of each timed word.

A line is `SPEAKER FILE CHANNEL BEGIN DURATION <NA> <NA> NAME <NA> <NA>`, in seconds; lines of other types are left out.
"""

import math
import os

import numpy as np

from punc.base.errors import InputError
from punc.base.files import decode_line, open_input
from punc.data.datadir import LATEST
from punc.timing.timed_words import TimedWord


class Diarization:
    """The turns of each file of an RTTM. Raises InputError for a line that is none, or if there are no turns."""

    def __init__(self, path: str | os.PathLike):
        self._turns: dict[str, list[tuple[float, float, str]]] = {}
        with open_input(path) as file:
            for number, raw in enumerate(file, 1):
                columns = decode_line(raw, path, number).split()
                if columns[:1] == ["SPEAKER"]:
                    file_name, begin, end, name = _turn(columns, path, number)
                    self._turns.setdefault(file_name, []).append((begin, end, name))
        if not self._turns:
            raise InputError("no SPEAKER lines", "give an RTTM", path)

    def __contains__(self, file: object) -> bool:
        return file in self._turns

    def speakers(self, file: str, begins: np.ndarray, ends: np.ndarray) -> list[str | None]:
        """The speaker of each word from its begin and end in seconds, (words,): whose turns it overlaps most; None if
        it overlaps no turn."""
        turns = self._turns.get(file, [])
        if not turns:
            return [None] * len(begins)
        names = sorted({name for _, _, name in turns})
        spoken = np.zeros((len(begins), len(names)))
        for begin, end, name in turns:
            spoken[:, names.index(name)] += np.maximum(np.minimum(ends, end) - np.maximum(begins, begin), 0)
        most = spoken.argmax(1)
        return [names[i] if seconds[i] > 0 else None for i, seconds in zip(most.tolist(), spoken)]


def _turn(columns: list[str], path: str | os.PathLike, line: int) -> tuple[str, float, float, str]:
    """File, begin, end and speaker of a line. Raises InputError if it is no turn."""
    try:
        begin, duration = float(columns[3]), float(columns[4])
        if not (0 <= begin < LATEST and 0 <= duration < LATEST) or math.isnan(begin + duration):
            raise ValueError
        return columns[1], begin, begin + duration, columns[7]
    except (ValueError, IndexError):
        raise InputError("not a turn", "write SPEAKER FILE CHANNEL BEGIN DURATION <NA> <NA> NAME <NA> <NA>", path,
                         line) from None


def word_speakers(timed: list[TimedWord], matched: np.ndarray, diarization: Diarization,
                  file: str) -> list[str | None]:
    """The speaker of each word of a text; None if it is not timed, or nobody's.

    timed     the words with times, which count from the recording's begin
    matched   (words,): the timed word that each word of the text is, −1 for none (`pauses.match_times`)
    """
    begins = np.array([word.begin for word in timed])
    speakers = diarization.speakers(file, begins, begins + [word.duration for word in timed])
    return [speakers[i] if i >= 0 else None for i in matched.tolist()]
