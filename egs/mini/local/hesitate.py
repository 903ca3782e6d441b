"""Prepares a text for the synthesiser: makes some marks silent, adds hesitations, and draws the length of every pause.

If a text were read with all its marks, the pauses would reveal them. So a quarter of the commas and a twentieth of the
full stops are silent, and one in forty slots without a mark has a hesitation. A hesitation is a silence; before one in
three of these silences, the speaker says "um" or "uh". Pauses at different marks can be equally long. The result
depends only on the text and the seed of the random numbers.
"""

import math
import re
from collections.abc import Iterable, Iterator
from random import Random
from statistics import NormalDist
from typing import NamedTuple

from punc.base.errors import InputError

TOKEN = re.compile(r"([A-Za-z0-9](?:['.,:-]?[A-Za-z0-9])*'?)([.,?!;:]?)")
SILENT = {",": 1 / 4, ".": 1 / 20}  # mark → fraction of its occurrences that the synthesiser does not see
HESITATIONS = 1 / 40  # the speaker hesitates in this fraction of the slots without a mark
FILLERS = ("um", "uh")
FILLED = 1 / 3  # fraction of the hesitations that begin with a filler
# The silence after a mark, in addition to the synthesiser's own: its median in seconds, and the standard deviation of
# its logarithm. "" stands for a hesitation.
PAUSES = {",": (0.12, 0.7), ";": (0.25, 0.6), ":": (0.2, 0.6), ".": (0.45, 0.6), "?": (0.45, 0.6), "!": (0.45, 0.6),
          "": (0.2, 0.7)}


class Said(NamedTuple):
    """A word as the synthesiser says it.

    spoken   the word without its mark
    word     the same word in lower case, or None for a filler, which is not in the text
    mark     the mark that the synthesiser sees after the word (a comma for a hesitation); "" if there is none
    pause    seconds of silence inserted after the word; 0 if there is no mark
    """

    spoken: str
    word: str | None
    mark: str
    pause: float


def read_token(token: str) -> tuple[str, str]:
    """Return the word and the mark of a token. Raises ValueError if the token is not a word with at most one mark."""
    match = TOKEN.fullmatch(token)
    if not match:
        raise ValueError(token)
    return match[1], match[2]


def say(lines: Iterable[str], random: Random, path: str | None = None) -> list[list[Said]]:
    """Return the words that the synthesiser says for each non-empty line of a text.

    Raises InputError, which names the file `path`, if a token is not a word with at most one mark, or if the text has
    no words.
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
    """Yield a word and, if there is one, the filler after it. Every call draws four random numbers."""
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
    """Return the given quantile of the pause lengths at a mark, in seconds, rounded to milliseconds. The lengths are
    log-normally distributed."""
    median, deviation = PAUSES[mark]
    # Without the limits, a few pauses would be extremely short or long.
    spread = NormalDist().inv_cdf(min(max(quantile, 0.001), 0.999))
    return round(median * math.exp(deviation * spread), 3)


def sentences(line: list[Said]) -> list[list[Said]]:
    """Split a line after each full stop, question mark or exclamation mark that the synthesiser sees."""
    parts = [[]]
    for said in line:
        parts[-1].append(said)
        if said.mark and said.mark in ".?!":
            parts.append([])
    return [part for part in parts if part]
