"""Synthesises a text: flite speaks, sox changes the tempo and makes noise, and pauses get additional silence.

The name of the text determines the voices, the tempo and the noise.
"""

import subprocess
import wave
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
from hesitate import Said, sentences

RATE = 16000  # samples/s
FRAME = RATE // 100  # samples per ASR frame; each line begins where a frame begins, so its time is a multiple of 0.01 s
VOICES = ("rms", "slt", "rms", "awb", "kal16")  # flite's voices; rms, which is recognised best, is listed twice
DIALOGUE = ("interview", "call")  # texts whose names begin with these have two speakers, who take turns line by line
TEMPOS = (1.0, 1.0, 1.0, 0.9, 1.1)
# Signal-to-noise ratio in dB; None: no noise. 30 dB would raise the word error rate by half.
NOISES = (None, None, None, 35.0)
QUIET = 0.02  # fraction of the loudest sample; quieter samples at the ends of a sentence are cut off
EDGE = 0.05  # s; this much of each quiet end is kept
SEARCH = 0.15  # s; `_quietest` begins its search this long before the start of flite's pause


class Setting(NamedTuple):
    """How a text is spoken: flite's voices, which take turns; the tempo factor; and the signal-to-noise ratio in dB, or
    None if there is no noise."""

    voices: tuple[str, ...]
    tempo: float
    snr: float | None


def setting(name: str, random: Random) -> Setting:
    draw = [random.random() for _ in range(4)]
    first = VOICES[int(draw[0] * len(VOICES))]
    others = [voice for voice in VOICES if voice != first]
    second = (others[int(draw[1] * len(others))],) if name.startswith(DIALOGUE) else ()
    return Setting((first, *second), TEMPOS[int(draw[2] * len(TEMPOS))], NOISES[int(draw[3] * len(NOISES))])


def speak(lines: Sequence[Sequence[Said]], how: Setting, work: Path) -> list[np.ndarray]:
    """Return each line and the silence after it as int16 samples in whole frames. `work` gets temporary files."""
    voices = [how.voices[i % len(how.voices)] for i in range(len(lines))]
    spoken = [_tempo(_line(line, voice, work), how.tempo, work) for line, voice in zip(lines, voices)]
    if how.snr is None:
        return spoken
    samples = np.concatenate(spoken).astype(np.float64)
    noise = _noise(len(samples), work)
    noise *= np.sqrt(np.square(samples).mean() / np.square(noise).mean()) * 10 ** (-how.snr / 20)
    mixed = np.clip(np.rint(samples + noise), -32768, 32767).astype(np.int16)
    return np.split(mixed, np.cumsum([len(line) for line in spoken])[:-1])


def _line(line: Sequence[Said], voice: str, work: Path) -> np.ndarray:
    """Return the samples of a line: each sentence and the silence after it."""
    parts = []
    for part in sentences(line):
        samples, pauses = _flite(part, voice, work)
        cuts = [_quietest(samples, *pause) for pause in pauses]
        silences = [said.pause for said in part[:-1] if said.mark]
        if len(cuts) == len(silences):  # if the numbers differ, flite paused inside a word, and no silence is inserted
            for between, silence in zip(np.split(samples, cuts), [*silences, 0]):
                parts += [between, _silence(silence)]
        else:
            parts.append(samples)
        parts.append(_silence(part[-1].pause))
    return np.concatenate(parts)


def _flite(part: Sequence[Said], voice: str, work: Path) -> tuple[np.ndarray, list[tuple[float, float]]]:
    """Return the trimmed samples of a sentence, and the start and end, in seconds, of each pause inside it."""
    text = " ".join(said.spoken + said.mark for said in part)
    run = ["flite", "-voice", voice, "-psdur", "-t", text, "-o", work / "flite.wav"]
    printed = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    pauses = inner_pauses(printed)
    samples = _read(work / "flite.wav") // 2  # halved, to leave headroom for noise and for the change of tempo
    loud = np.flatnonzero(np.abs(samples.astype(int)) > QUIET * np.abs(samples.astype(int)).max())
    first, end = max(loud[0] - int(EDGE * RATE), 0), loud[-1] + 1 + int(EDGE * RATE)
    return samples[first:end], [(begin - first / RATE, stop - first / RATE) for begin, stop in pauses]


def inner_pauses(printed: str) -> list[tuple[float, float]]:
    """Return the start and end, in seconds, of each pause inside the sentence. `printed`: `phone:end phone:end …`."""
    pairs = [item.split(":") for item in printed.split()]
    begins = [0.0, *(float(end) for _, end in pairs[:-1])]
    return [(begin, float(end)) for begin, (phone, end) in zip(begins, pairs) if phone == "pau"][1:-1]


def _quietest(samples: np.ndarray, begin: float, end: float) -> int:
    """Return the index of the sample in the middle of the quietest 20 ms near a pause.

    For diphone voices, the pause times that flite prints are off by up to 0.1 s.
    """
    width = RATE // 50
    first = max(int((begin - SEARCH) * RATE), 0)
    power = np.square(samples[first:int(end * RATE) + width].astype(np.float64))
    return first + width // 2 + int(np.convolve(power, np.ones(width), "valid").argmin())


def _silence(seconds: float) -> np.ndarray:
    return np.zeros(round(seconds * RATE), np.int16)


def _tempo(samples: np.ndarray, tempo: float, work: Path) -> np.ndarray:
    """Change the tempo of samples, but not their pitch. Pad them to whole frames."""
    if tempo != 1:
        with wave.open(str(work / "plain.wav"), "wb") as file:
            file.setparams((1, 2, RATE, 0, "NONE", ""))
            file.writeframes(samples.astype("<i2").tobytes())
        _sox(work / "plain.wav", work / "tempo.wav", "tempo", "-s", tempo)
        samples = _read(work / "tempo.wav")
    return np.pad(samples, (0, -len(samples) % FRAME))


def _noise(length: int, work: Path) -> np.ndarray:
    _sox("-r", RATE, "-n", "-c", 1, "-b", 16, work / "noise.wav", "synth", f"{length}s", "pinknoise", "vol", 0.5)
    return _read(work / "noise.wav").astype(np.float64)[:length]


def _sox(*arguments: object) -> None:
    """Run sox with fixed random numbers and without dither, so that its output can be reproduced."""
    subprocess.run(["sox", "-R", "-D", *map(str, arguments)], check=True)


def _read(path: Path) -> np.ndarray:
    with wave.open(str(path)) as file:
        return np.frombuffer(file.readframes(file.getnframes()), "<i2")
