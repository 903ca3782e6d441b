"""What is said of a text: some marks are not heard, hesitations come in, and every pause has a length.

A text read with its marks would give them away. So of the marks, a quarter of the commas and a twentieth of the full
stops are read over, and every fortieth slot without a mark has a hesitation: silence, or every third time "um" or "uh"
and then silence. The lengths of the pauses of different marks overlap. All of it is drawn slot by slot, so it depends
on nothing but the text and the random numbers.
"""

import math
import re
from collections.abc import Iterable, Iterator
from random import Random
from statistics import NormalDist
from typing import NamedTuple

from punc.base.errors import InputError

TOKEN = re.compile(r"([A-Za-z0-9]+(?:['.,:-]?[A-Za-z0-9]+)*'?)([.,?!;:]?)")
READ_OVER = {",": 1 / 4, ".": 1 / 20}  # the share of a mark that the synthesiser does not get
HESITATIONS = 1 / 40  # of the slots without a mark
FILLERS = ("um", "uh")
FILLED = 1 / 3  # of the hesitations
# Median in seconds, and deviation of the logarithm, of the silence that is put in at a mark, beside the synthesiser's
# own. "" is a hesitation.
PAUSES = {",": (0.12, 0.7), ";": (0.25, 0.6), ":": (0.2, 0.6), ".": (0.45, 0.6), "?": (0.45, 0.6), "!": (0.45, 0.6),
          "": (0.2, 0.7)}


class Said(NamedTuple):
    """A word as the synthesiser gets it.

    spoken   the word without its mark
    word     as the corpus has it, in lower case; None for a hesitation's
    mark     the mark that the synthesiser gets behind it, or ""
    pause    seconds of silence put in behind it; 0 where there is no mark
    """

    spoken: str
    word: str | None
    mark: str
    pause: float


def read_token(token: str) -> tuple[str, str]:
    """The word and the mark of a blank-separated piece of text. Raises ValueError for anything else."""
    match = TOKEN.fullmatch(token)
    if not match:
        raise ValueError(token)
    return match[1], match[2]


def say(lines: Iterable[str], random: Random, path: str | None = None) -> list[list[Said]]:
    """What is said of each line of a text that is not empty.

    Raises InputError, its file `path`, for what is no word with a mark behind it, and where no line has words.
    """
    said = []
    for number, line in enumerate(lines, 1):
        try:
            tokens = [read_token(token) for token in line.split()]
        except ValueError as error:
            raise InputError(f"'{error}' is no word", "write letters, digits and ', and one of . , ? ! ; : behind",
                             path, number) from None
        if tokens:
            said.append([piece for spoken, mark in tokens for piece in _slot(spoken, mark, random)])
    if not said:
        raise InputError("no words", "write a text, or take the file away", path)
    return said


def _slot(word: str, mark: str, random: Random) -> Iterator[Said]:
    """A word with what is said in the slot behind it: always four random numbers."""
    happens, filled, which, length = (random.random() for _ in range(4))
    if mark:
        heard = "" if happens < READ_OVER.get(mark, 0) else mark
        yield Said(word, word.lower(), heard, _pause(heard, length) if heard else 0.0)
    elif happens >= HESITATIONS:
        yield Said(word, word.lower(), "", 0.0)
    elif filled >= FILLED:
        yield Said(word, word.lower(), ",", _pause("", length))
    else:
        yield Said(word, word.lower(), "", 0.0)
        yield Said(FILLERS[int(which * len(FILLERS))], None, ",", _pause("", length))


def _pause(mark: str, quantile: float) -> float:
    """The length of a pause in seconds, to a millisecond: log-normal."""
    median, deviation = PAUSES[mark]
    spread = NormalDist().inv_cdf(min(max(quantile, 0.001), 0.999))  # no pause without end
    return round(median * math.exp(deviation * spread), 3)


def sentences(line: list[Said]) -> list[list[Said]]:
    """A line cut behind the words that have a full stop, question or exclamation mark, as they are synthesised."""
    parts = [[]]
    for said in line:
        parts[-1].append(said)
        if said.mark and said.mark in ".?!":
            parts.append([])
    return [part for part in parts if part]
