"""usage: make_speech.py JOB NJ TEXT-DIR WORK-DIR

Every NJ-th text of TEXT-DIR, from the JOB-th: its speech, WORK-DIR/wav/NAME.wav; its words' times and what a recogniser
makes of it, WORK-DIR/ref/NAME.ctm and WORK-DIR/asr/NAME.ctm; and how it is spoken, WORK-DIR/info/NAME. A text that has
the last of these, and no newer, is done. The columns of info: name, voices, tempo, signal-to-noise ratio in dB,
seconds, words, words without a time.
"""

import os
import sys
import tempfile
import wave
from pathlib import Path
from random import Random

import numpy as np
from hesitate import Said, say
from sphinx import Sphinx, pieces, starts, timed
from synthesise import RATE, flite_phones, setting, speak

from punc.base.errors import InputError
from punc.base.files import atomic_file, open_input
from punc.timing.ctm import write_ctm

SEED = 1


def make(path: Path, work: Path, sphinx: Sphinx) -> None:
    """Everything of one text; info is written last."""
    name = path.stem
    with open_input(path) as file:
        lines = say(file.read().decode().splitlines(), Random(f"{SEED} said {name}"), str(path))
    how = setting(name, Random(f"{SEED} setting {name}"))
    with tempfile.TemporaryDirectory() as place:
        samples = speak(lines, how, Path(place))
    write_wav(work / "wav" / f"{name}.wav", np.concatenate(samples))
    ref, asr, unaligned = words_of(name, lines, samples, sphinx)
    for kind, words in (("ref", ref), ("asr", asr)):
        write_ctm(work / kind / f"{name}.ctm", words)
    n_words = sum(said.word is not None for line in lines for said in line)
    seconds = sum(map(len, samples)) / RATE
    columns = [name, "+".join(how.voices), how.tempo, how.snr or "-", f"{seconds:.2f}", n_words, unaligned]
    with atomic_file(work / "info" / name) as file:
        file.write("\t".join(map(str, columns)) + "\n")


def words_of(name: str, lines: list[list[Said]], samples: list[np.ndarray], sphinx: Sphinx) -> tuple[list, list, int]:
    """The aligned words of a text without hesitations, the recognised ones, and how many could not be aligned."""
    lengths = list(map(len, samples))
    begin = starts(lengths, RATE)
    ref, asr, unaligned = [], [], 0
    for piece in pieces(lengths, RATE):
        audio = np.concatenate(samples[piece.start:piece.stop])
        said = [said for line in lines[piece.start:piece.stop] for said in line]
        heard = sphinx.align(audio, [item.spoken.lower() for item in said], [item.spoken for item in said])
        if heard is None:
            unaligned += sum(item.word is not None for item in said)
            print(f"{name}: lines {piece.start + 1} to {piece.stop} could not be aligned: no times there",
                  file=sys.stderr)
        else:
            words = [time for time, item in zip(heard, said) if item.word is not None]
            ref += timed(name, begin[piece.start], words, confidence=False)
        asr += timed(name, begin[piece.start], sphinx.recognise(audio), confidence=True)
    return ref, asr, unaligned


def write_wav(path: Path, samples: np.ndarray) -> None:
    with atomic_file(path, "wb") as file, wave.open(file, "wb") as out:
        out.setparams((1, 2, RATE, 0, "NONE", ""))
        out.writeframes(samples.astype("<i2").tobytes())


def is_done(path: Path, info: Path) -> bool:
    return info.is_file() and os.stat(info).st_mtime >= os.stat(path).st_mtime


def main(job: int, nj: int, texts: Path, work: Path) -> None:
    paths = sorted(texts.glob("*.txt"))[job - 1::nj]
    for number, path in enumerate(paths, 1):
        info = work / "info" / path.stem
        if not is_done(path, info):
            # New decoders for each text: what they heard before changes what they hear.
            make(path, work, Sphinx(flite_phones))
        print(f"{number} of {len(paths)}:", info.read_text(), end="", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    try:
        main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4]))
    except InputError as error:
        sys.exit(f"{sys.argv[0]}: {error}")
