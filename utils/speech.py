"""Aligns and recognises speech with pocketsphinx, and gets the phones of words from flite.

pocketsphinx is in the extra `speech`. Its bundled models are for English; `Sphinx` can also use other models.
"""

import re
import subprocess
import wave
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.files import open_input
from punc.timing.pauses import TimedWord

RATE = 16000  # samples/s
FRAMES = 100  # frames/s
# Wide beams for alignment, the narrower ones first. Recognition tries pocketsphinx's default beams first; wide beams
# would take three times as long and find the same words.
BEAMS = ({"beam": 1e-80, "wbeam": 1e-60, "pbeam": 1e-80}, {"beam": 1e-160, "wbeam": 1e-120, "pbeam": 1e-160})
# Peak, of 32768, of the noise that is added if alignment fails, for example because the end is digital silence.
FAINT = 2
MAX_STATES = 5000  # maximum number of active states; with more states, decoding takes longer but finds the same words
VOICE = "kal16"  # a voice of flite


class Heard(NamedTuple):
    """A word, its first frame, the frame after its last one, and its confidence."""

    word: str
    begin: int
    end: int
    confidence: float


def timed(name: str, start: float, heard: Iterable[Heard], confidence: bool) -> Iterator[TimedWord]:
    """Yield the words of a stretch that begins `start` seconds into a recording, with their times in the recording."""
    for word, begin, end, sure in heard:
        yield TimedWord(name, "1", round(start + begin / FRAMES, 2), round((end - begin) / FRAMES, 2), word,
                        round(sure, 3) if confidence else None)


class Sphinx:
    """pocketsphinx's decoders, each made on first use.

    phones   returns the phones of a word that is not in the dictionary
    models   pocketsphinx's options hmm, dict and lm; default: its bundled models
    """

    def __init__(self, phones: Callable[[str], str], **models: str):
        self._phones, self._models = phones, models
        self._decoders: dict[tuple, Any] = {}

    def align(self, samples: np.ndarray, words: Sequence[str], spoken: Sequence[str]) -> list[Heard] | None:
        """Align words with int16 samples. Return the words with their times, or None if they could not be aligned.

        spoken  each word in spoken form, from which its phones are made if it is not in the dictionary
        """
        noise = np.random.default_rng(0).integers(-FAINT, FAINT + 1, len(samples)).astype(np.int16)
        for beams, audio in ((BEAMS[0], samples), (BEAMS[0], samples + noise), (BEAMS[1], samples + noise)):
            decoder = self._decoder(**{"lm": None, **beams})
            for word, said in zip(words, spoken):
                if decoder.lookup_word(word) is None:
                    decoder.add_word(word, self._phones(said))
            decoder.set_align_text(" ".join(words))
            heard = _decode(decoder, audio)
            if [item.word for item in heard] == list(words):
                return heard
        return None

    def knows(self, word: str) -> bool:
        return self._decoder(**{"lm": None, **BEAMS[0]}).lookup_word(word) is not None

    def recognise(self, samples: np.ndarray) -> list[Heard]:
        for beams in ({}, *BEAMS):
            if heard := _decode(self._decoder(**beams), samples):
                return heard
        return []

    def _decoder(self, **options: Any) -> Any:
        from pocketsphinx import Config, Decoder  # imported only when needed: other functions work without the package

        key = tuple(options.items())
        if key not in self._decoders:
            self._decoders[key] = Decoder(Config(cmn="batch", loglevel="FATAL", maxhmmpf=MAX_STATES,
                                                 **{**self._models, **options}))
        return self._decoders[key]


def _decode(decoder: Any, samples: np.ndarray) -> list[Heard]:
    """Return the words that a decoder finds, without silences and noises. The number of a pronunciation, as in
    `read(2)`, is removed."""
    decoder.start_utt()
    decoder.process_raw(samples.astype("<i2").tobytes(), full_utt=True)
    decoder.end_utt()
    if decoder.hyp() is None:
        return []
    return [Heard(re.sub(r"\(\d+\)$", "", item.word), item.start_frame, item.end_frame + 1, min(item.prob, 1.0))
            for item in decoder.seg() if item.word[0] not in "<["]


def flite_phones(word: str) -> str:
    """Return flite's phones of an English word, named as in pocketsphinx's dictionary."""
    run = ["flite", "-voice", VOICE, "-ps", "-t", word, "none"]
    phones = subprocess.run(run, check=True, capture_output=True, text=True).stdout.split()
    return " ".join({"ax": "AH"}.get(phone, phone.upper()) for phone in phones if phone != "pau")


def read_wav(path: Path) -> np.ndarray:
    """Return the int16 samples of a file. Raises InputError unless it is a WAV file with 16 kHz, 16 bit and one
    channel."""
    remedy = f"convert it: sox {path.name} -r 16000 -b 16 -c 1 new/{path.stem}.wav"
    with open_input(path) as opened:
        try:
            with wave.open(opened) as file:
                kind = file.getframerate(), 8 * file.getsampwidth(), file.getnchannels()
                samples = file.readframes(file.getnframes())
        except (wave.Error, EOFError) as error:
            raise InputError(f"not a WAV file: {str(error) or 'cut short'}", remedy, path) from None
    if kind != (RATE, 16, 1):
        raise InputError("{} Hz, {} bit and {} channels, not 16000 Hz, 16 bit and one".format(*kind), remedy, path)
    return np.frombuffer(samples, "<i2")
