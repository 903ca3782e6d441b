"""Alignment and recognition with pocketsphinx in chunks of several lines, with times in the recording."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from punc.timing.ctm import TimedWord

RATE = 100  # frames/s
# For alignment, narrowest first. Recognition uses the default beams: with these it takes three times as long and finds
# the same words.
BEAMS = ({"beam": 1e-80, "wbeam": 1e-60, "pbeam": 1e-80}, {"beam": 1e-160, "wbeam": 1e-120, "pbeam": 1e-160})
FAINT = 2  # of 32768: noise added to what could not be aligned; in digital silence the last word may not end
MAX_STATES = 5000  # active at once; more take longer and find the same words
MIN_CHUNK = 8.0  # s; the decoder subtracts the mean of a chunk, which a short chunk estimates badly


class Heard(NamedTuple):
    """A word, its first frame, the frame after its last one, and its confidence."""

    word: str
    begin: int
    end: int
    confidence: float


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


def timed(name: str, start: float, heard: Iterable[Heard], confidence: bool) -> Iterator[TimedWord]:
    """The words of a chunk that begins at `start` seconds, with their times in the recording."""
    for word, begin, end, sure in heard:
        yield TimedWord(name, "1", round(start + begin / RATE, 2), round((end - begin) / RATE, 2), word,
                        round(sure, 3) if confidence else None)


class Sphinx:
    """The decoders, each made at its first use.

    phones  returns the phones of a word that is not in the dictionary
    """

    def __init__(self, phones: Callable[[str], str]):
        self._phones, self._decoders = phones, {}

    def align(self, samples: np.ndarray, words: Sequence[str], spoken: Sequence[str]) -> list[Heard] | None:
        """The times of the words in int16 samples, one for each; None if they could not be aligned.

        spoken  the words as they are spoken, for their phones
        """
        noise = np.random.default_rng(0).integers(-FAINT, FAINT + 1, len(samples)).astype(np.int16)
        for beams, audio in ((BEAMS[0], samples), (BEAMS[0], samples + noise), (BEAMS[1], samples + noise)):
            decoder = self._decoder(lm=None, **beams)
            for word, said in zip(words, spoken):
                if decoder.lookup_word(word) is None:
                    decoder.add_word(word, self._phones(said))
            decoder.set_align_text(" ".join(words))
            heard = _decode(decoder, audio)
            if [item.word for item in heard] == list(words):
                return heard
        return None

    def recognise(self, samples: np.ndarray) -> list[Heard]:
        """The words recognised in int16 samples."""
        for beams in ({}, *BEAMS):
            if heard := _decode(self._decoder(**beams), samples):
                return heard
        return []

    def _decoder(self, **options):
        from pocketsphinx import Config, Decoder  # imported here so that the rest can be tested without it

        key = tuple(options.items())
        if key not in self._decoders:
            self._decoders[key] = Decoder(Config(cmn="batch", loglevel="FATAL", maxhmmpf=MAX_STATES, **options))
        return self._decoders[key]


def _decode(decoder, samples: np.ndarray) -> list[Heard]:
    """The words that a decoder finds, without silences, noises and the numbers of pronunciations."""
    decoder.start_utt()
    decoder.process_raw(samples.astype("<i2").tobytes(), full_utt=True)
    decoder.end_utt()
    if decoder.hyp() is None:
        return []
    return [Heard(re.sub(r"\(\d+\)$", "", item.word), item.start_frame, item.end_frame + 1, min(item.prob, 1.0))
            for item in decoder.seg() if item.word[0] not in "<["]
