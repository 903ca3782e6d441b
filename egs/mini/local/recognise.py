"""Cuts a text into chunks of several lines for pocketsphinx to align and recognise; computes the times of the lines."""

from collections.abc import Iterable, Sequence
from itertools import accumulate

MIN_CHUNK = 8.0  # s; the decoder subtracts each chunk's cepstral mean, and the mean of a short chunk is unreliable


def chunks(lengths: Sequence[int], rate: int) -> list[range]:
    """Return ranges of lines, each at least MIN_CHUNK long. `lengths`: samples per line. Lines left over at the end
    join the last range."""
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
