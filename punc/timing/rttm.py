"""Who speaks when: NIST's RTTM, as diarization systems write it, and the speakers of timed words.

A line is `SPEAKER FILE CHANNEL BEGIN DURATION <NA> <NA> NAME <NA> <NA>`, in seconds; lines of other types are left out.
"""

import os
from collections.abc import Sequence

import numpy as np

from punc.base.errors import InputError
from punc.base.files import decode_line, open_input
from punc.data.datadir import LATEST

Turn = tuple[float, float, str]  # begin and end in seconds, and the speaker


def read_rttm(path: str | os.PathLike) -> dict[str, list[Turn]]:
    """The turns of each file of an RTTM. Raises InputError for a line that is none, or if there are no turns."""
    turns: dict[str, list[Turn]] = {}
    with open_input(path) as file:
        for number, raw in enumerate(file, 1):
            columns = decode_line(raw, path, number).split()
            if columns[:1] == ["SPEAKER"]:
                name, turn = _turn(columns, path, number)
                turns.setdefault(name, []).append(turn)
    if not turns:
        raise InputError("no SPEAKER lines", "give an RTTM", path)
    return turns


def speakers_of(turns: Sequence[Turn], times: np.ndarray) -> list[str | None]:
    """The speaker of each word, whose turns it overlaps most; None if it overlaps no turn.

    times   (words, 2): begin and end in seconds
    """
    names = sorted({name for _, _, name in turns})
    spoken = np.zeros((len(times), len(names) + 1))  # the last column is nobody's
    for begin, end, name in turns:
        overlap = np.minimum(times[:, 1], end) - np.maximum(times[:, 0], begin)
        spoken[:, names.index(name)] += np.maximum(overlap, 0)
    most = spoken.argmax(1)
    return [names[i] if seconds[i] > 0 else None for i, seconds in zip(most.tolist(), spoken)]


def _turn(columns: list[str], path: str | os.PathLike, line: int) -> tuple[str, Turn]:
    """File and turn of a line. Raises InputError if it is no turn."""
    try:
        begin, duration = float(columns[3]), float(columns[4])
        if not (0 <= begin < LATEST and 0 <= duration < LATEST):  # so NaN is out, too
            raise ValueError
        return columns[1], (begin, begin + duration, columns[7])
    except (ValueError, IndexError):
        raise InputError("not a turn", "write SPEAKER FILE CHANNEL BEGIN DURATION <NA> <NA> NAME <NA> <NA>", path,
                         line) from None
