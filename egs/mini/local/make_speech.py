"""usage: make_speech.py JOB NJ TEXT-DIR WORK-DIR

For every NJ-th text of TEXT-DIR, starting with the JOB-th, makes the speech WORK-DIR/wav/NAME.wav, the word times
WORK-DIR/ref/NAME.ctm, the ASR output WORK-DIR/asr/NAME.ctm, and last WORK-DIR/info/NAME, which describes the speech. If
this info file is not older than the text, the text is finished and is skipped. The info file has these columns: the
text's name, the voices, the tempo, the signal-to-noise ratio in dB, the length of the speech in seconds, the number of
words, and the number of words without a time.
"""

import os
import sys
import tempfile
import wave
from pathlib import Path
from random import Random

import numpy as np
from hesitate import Said, say
from recognise import chunks, starts
from speech import Sphinx, flite_phones, timed
from synthesise import RATE, setting, speak

from punc.base.files import atomic_file, open_input
from punc.bin.script import run_script
from punc.transcripts.ctm import write_ctm

SEED = 1


def make(path: Path, work: Path, sphinx: Sphinx) -> None:
    """Make all files of one text, the info file last."""
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
    """Return a text's aligned words (no fillers), its ASR output, and the number of its unaligned words."""
    lengths = list(map(len, samples))
    begin = starts(lengths, RATE)
    ref, asr, unaligned = [], [], 0
    for chunk in chunks(lengths, RATE):
        audio = np.concatenate(samples[chunk.start:chunk.stop])
        said = [said for line in lines[chunk.start:chunk.stop] for said in line]
        heard = sphinx.align(audio, [item.spoken.lower() for item in said], [item.spoken for item in said])
        if heard is None:
            unaligned += sum(item.word is not None for item in said)
            print(f"{name}: lines {chunk.start + 1} to {chunk.stop} could not be aligned and have no times",
                  file=sys.stderr)
        else:
            words = [time for time, item in zip(heard, said) if item.word is not None]
            ref += timed(name, begin[chunk.start], words, confidence=False)
        asr += timed(name, begin[chunk.start], sphinx.recognise(audio), confidence=True)
    return ref, asr, unaligned


def write_wav(path: Path, samples: np.ndarray) -> None:
    with atomic_file(path, "wb") as file, wave.open(file, "wb") as out:
        out.setparams((1, 2, RATE, 0, "NONE", ""))
        out.writeframes(samples.astype("<i2").tobytes())


def is_done(path: Path, info: Path) -> bool:
    """Return whether the info file of a text exists and is not older than the text."""
    return info.is_file() and os.stat(info).st_mtime >= os.stat(path).st_mtime


def main(job: int, nj: int, texts: Path, work: Path) -> None:
    paths = sorted(texts.glob("*.txt"))[job - 1::nj]
    for number, path in enumerate(paths, 1):
        info = work / "info" / path.stem
        if not is_done(path, info):
            # Decoders adapt to the speech that they have heard, so each text gets new decoders.
            make(path, work, Sphinx(flite_phones))
        print(f"{number} of {len(paths)}:", info.read_text(), end="", flush=True)


if __name__ == "__main__":
    run_script(main, __doc__)
