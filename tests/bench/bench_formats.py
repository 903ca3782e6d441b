"""Measures the speed and memory of `punc transcript` on files in the formats of speech recognisers.

    python tests/bench/bench_formats.py [--words N] [--model en-live] [--nj 2] [--formats whisper whisperx vosk srt ctm]

A file contains N words (default 1,000,000) in segments of ten words, with times and, if the format has them,
confidences. The words are drawn from the model's vocabulary with Zipf frequencies. Two times are printed, in seconds:
the elapsed time, including start-up, and the processor time, which depends less on other work on the machine. Memory is
the peak of all processes together; a shared page counts once.
"""

import argparse
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from processes import PUNC, measure

from punc.decoding.shipped import find_model
from punc.tokens.tokenizer import read_tokenizer

SEGMENT = 10  # words in a segment


def segments(model: str, count: int) -> Iterator[list[tuple[str, float, float, float]]]:
    rng = np.random.default_rng(1)
    tokens = np.array(read_tokenizer(find_model(model)).vocabulary.tokens[2:], object)
    words = tokens[np.exp(rng.random(count) * np.log(len(tokens))).astype(np.int64) - 1]
    durations = rng.integers(5, 60, count)
    silences = np.where(rng.random(count) < 0.25, rng.exponential(40, count), 0).astype(np.int64)
    ends = np.cumsum(durations + silences)
    rows = list(zip(words.tolist(), ((ends - durations) / 100).tolist(), (ends / 100).tolist(),
                    np.round(rng.random(count), 3).tolist()))
    for first in range(0, count, SEGMENT):
        yield rows[first:first + SEGMENT]


def clock(seconds: float) -> str:
    ms = round(1000 * seconds)
    return f"{ms // 3600000:02}:{ms // 60000 % 60:02}:{ms // 1000 % 60:02},{ms % 1000:03}"


def write(path: Path, form: str, model: str, count: int) -> None:
    found = segments(model, count)
    with open(path, "w") as file:
        if form == "ctm":
            file.writelines(f"talk 1 {begin:.2f} {end - begin:.2f} {word} {conf:.2f}\n"
                            for segment in found for word, begin, end, conf in segment)
        elif form == "srt":
            file.writelines(f"{n}\n{clock(rows[0][1])} --> {clock(rows[-1][2])}\n{' '.join(r[0] for r in rows)}\n\n"
                            for n, rows in enumerate(found, 1))
        elif form == "vosk":
            for rows in found:
                words = [{"conf": c, "end": e, "start": b, "word": w} for w, b, e, c in rows]
                json.dump({"result": words, "text": " ".join(row[0] for row in rows)}, file, indent=2)
                file.write("\n")
        else:
            blank, conf = (" ", "probability") if form == "whisper" else ("", "score")
            made = [{"id": n, "seek": 0, "start": rows[0][1], "end": rows[-1][2],
                     "text": "".join(f" {row[0]}" for row in rows), "tokens": list(range(50364, 50376)),
                     "temperature": 0.0, "avg_logprob": -0.21, "compression_ratio": 1.6, "no_speech_prob": 0.01,
                     "words": [{"word": blank + w, "start": b, "end": e, conf: c} for w, b, e, c in rows]}
                    for n, rows in enumerate(found)]
            if form == "whisper":
                json.dump({"text": "".join(one["text"] for one in made), "segments": made, "language": "en"}, file)
            else:
                json.dump({"segments": made, "word_segments": [w for one in made for w in one["words"]]}, file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=1_000_000)
    parser.add_argument("--model", default="en-live")
    parser.add_argument("--nj", type=int, default=2)
    parser.add_argument("--formats", nargs="+", default=["whisper", "whisperx", "vosk", "srt", "ctm"])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        for form in args.formats:
            source, out = Path(place) / f"in.{form}", Path(place) / f"out.{form}"
            write(source, form, args.model, args.words)
            usage = measure([*PUNC, "transcript", "--nj", args.nj, args.model, source, out], Path(place))
            size, rate = source.stat().st_size >> 20, args.words / usage.seconds
            print(f"{form:<10}{size:6} MiB {usage.seconds:8.1f} s {rate:12,.0f} words/s {usage.cpu:8.1f} s "
                  f"of processors{usage.memory >> 20:8,} MiB at most; load {os.getloadavg()[0]:.1f}", flush=True)
            source.unlink()


if __name__ == "__main__":
    main()
