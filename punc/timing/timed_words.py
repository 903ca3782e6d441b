"""Words with their times."""

import os
from typing import NamedTuple


class TimedWord(NamedTuple):
    """A word of an utterance or a recording, with its time in seconds; confidence None if there is none.

    speaker   as NIST's CTMs may name it in their last column
    """

    id: str
    channel: str
    begin: float
    duration: float
    word: str
    confidence: float | None = None
    speaker: str = ""


class Timing(NamedTuple):
    """The words of one id in time order, without silences.

    end         the end of the id in seconds; None if unknown
    file, line  where it was read
    """

    words: list[TimedWord]
    end: float | None = None
    file: str | os.PathLike[str] | None = None
    line: int | None = None
