"""Chunks of several lines, in which pocketsphinx aligns and recognises a text, and their times in the recording."""

from collections.abc import Iterable, Sequence
from itertools import accumulate

MIN_CHUNK = 8.0  # s; the decoder subtracts the mean of a chunk, which a short chunk estimates badly


def chunks(lengths: Sequence[int], rate: int) -> list[range]:
    """Ranges of lines with `lengths` samples, each of at least MIN_CHUNK; a short rest belongs to the last chunk."""
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
    """The time at which each line begins, in seconds, and at which the last one ends."""
    return [0.0, *(total / rate for total in accumulate(lengths))]
