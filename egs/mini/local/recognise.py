"""Cuts the speech of a text into chunks of one or more lines for pocketsphinx, and computes when each line starts."""

from collections.abc import Iterable, Sequence
from itertools import accumulate

MIN_CHUNK = 8.0  # s; the decoder subtracts each chunk's cepstral mean, and the mean of a short chunk is unreliable


def chunks(lengths: Sequence[int], rate: int) -> list[range]:
    """Return the chunks as ranges of lines. A chunk lasts at least MIN_CHUNK, unless the whole text is shorter. Lines
    left over at the end join the last chunk. `lengths`: samples per line."""
    cuts, start = [], 0
    for line in range(len(lengths)):
        if sum(lengths[start:line + 1]) >= MIN_CHUNK * rate:
            cuts.append(range(start, line + 1))
            start = line + 1
    if start < len(lengths):
        start = cuts.pop().start if cuts else 0
        cuts.append(range(start, len(lengths)))
    return cuts


def starts(lengths: Iterable[int], rate: int) -> list[float]:
    """Return the start time of each line in seconds, and the end time of the last line."""
    return [0.0, *(total / rate for total in accumulate(lengths))]
