"""Turns a text into what the synthesiser says: some marks are silent, hesitations are added, every pause has a length.

If a text were read with its marks, the pauses would give them away. So a quarter of the commas and a twentieth of the
full stops are silent, and every fortieth slot without a mark has a hesitation: silence, or every third time "um" or
"uh" and then silence. The pause lengths of different marks overlap. Everything is drawn slot by slot, so that it
depends only on the text and the random numbers.
"""

import math
import re
from collections.abc import Iterable, Iterator
from random import Random
from statistics import NormalDist
from typing import NamedTuple

from punc.base.errors import InputError

TOKEN = re.compile(r"([A-Za-z0-9](?:['.,:-]?[A-Za-z0-9])*'?)([.,?!;:]?)")
SILENT = {",": 1 / 4, ".": 1 / 20}  # fraction of these marks that the synthesiser does not get
HESITATIONS = 1 / 40  # fraction of the slots without a mark
FILLERS = ("um", "uh")
FILLED = 1 / 3  # fraction of the hesitations
# Median in seconds, and standard deviation of the logarithm, of the silence that is inserted at a mark in addition to
# the synthesiser's own. "" is a hesitation.
PAUSES = {",": (0.12, 0.7), ";": (0.25, 0.6), ":": (0.2, 0.6), ".": (0.45, 0.6), "?": (0.45, 0.6), "!": (0.45, 0.6),
          "": (0.2, 0.7)}


class Said(NamedTuple):
    """A word as the synthesiser gets it.

    spoken   the word without its mark
    word     as in the corpus, in lower case; None for a filler
    mark     the mark that the synthesiser gets after it, or ""
    pause    seconds of silence inserted after it; 0 if there is no mark
    """

    spoken: str
    word: str | None
    mark: str
    pause: float


def read_token(token: str) -> tuple[str, str]:
    """The word and the mark of a space-separated token. Raises ValueError for anything else."""
    match = TOKEN.fullmatch(token)
    if not match:
        raise ValueError(token)
    return match[1], match[2]


def say(lines: Iterable[str], random: Random, path: str | None = None) -> list[list[Said]]:
    """What the synthesiser says for each line of a text; empty lines are left out.

    Raises InputError about the file `path` if a token is not a word with at most one mark after it, or if there is no
    word.
    """
    said = []
    for number, line in enumerate(lines, 1):
        try:
            tokens = [read_token(token) for token in line.split()]
        except ValueError as error:
            raise InputError(f"'{error}' is not a word", "write letters, digits and ', then one of . , ? ! ; :",
                             path, number) from None
        if tokens:
            said.append([item for spoken, mark in tokens for item in _slot(spoken, mark, random)])
    if not said:
        raise InputError("no words", "write a text, or remove the file", path)
    return said


def _slot(word: str, mark: str, random: Random) -> Iterator[Said]:
    """A word and what is said in the slot after it; takes four random numbers whatever that is."""
    happens, filled, which, length = (random.random() for _ in range(4))
    if mark:
        heard = "" if happens < SILENT.get(mark, 0) else mark
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
    spread = NormalDist().inv_cdf(min(max(quantile, 0.001), 0.999))  # bounds the longest pause
    return round(median * math.exp(deviation * spread), 3)


def sentences(line: list[Said]) -> list[list[Said]]:
    """A line split after each full stop, question mark or exclamation mark that the synthesiser gets."""
    parts = [[]]
    for said in line:
        parts[-1].append(said)
        if said.mark and said.mark in ".?!":
            parts.append([])
    return [part for part in parts if part]
