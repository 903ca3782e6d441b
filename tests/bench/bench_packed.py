"""Measures the speed and memory of packed models, and the machine's rate of matrix products in the same run.

    python tests/bench/bench_packed.py [--model MODEL] [--live MODEL] [--data DATA-DIR] [--words N] [--runs N]

- Start-up: the time from the start of `punc punctuate LIVE -` to its first output word, which comes before the end of
  the input.
- Standard input: the same command reads LIVE_WORDS words from a file. Its speed and its peak resident memory are
  measured.
- Whole files: the speed and the processor time of `punc punctuate --nj 2 MODEL DATA-DIR OUT-DIR` without posteriors.
- Word by word: LIVE gets the words one at a time in this process, with one thread; the latency of a word is the time
  from its arrival to the output that it makes possible.

MODEL and LIVE are names or directories of packed models (default: en, en-live). The words come from --data, repeated as
needed, or are drawn with Zipf frequencies from LIVE's vocabulary. --words applies only to whole files. The figures are
medians over several runs, except for memory, which is the maximum.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # must be set before NumPy is imported

import numpy as np
from machine import gflops
from processes import PUNC, Usage, measure

from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.decoding.packed import PackedModel, load_packed
from punc.decoding.shipped import find_model
from punc.live.stream import SlotStream
from punc.text.casing import Casing

LIVE_WORDS = 100_000
UTTERANCE, STREAM = 50, 10_000  # words in an utterance, and in a stream
# Runs punc, then prints its peak resident set size. getrusage would include the memory of this program.
CODE = "import sys; from punc.bin.main import main; main(); " \
    "sys.stderr.write(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')))"
MEASURED = [sys.executable, "-c", CODE, "punctuate"]


def words_of(source: Path | None, model: PackedModel) -> list[str]:
    if source:
        return [word for utterance in DataDir(source).utterances() for word in utterance.words]
    known = model.tokenizer.vocabulary.tokens[2:]
    chances = 1 / np.arange(1, len(known) + 1)
    return [known[i] for i in np.random.default_rng(0).choice(len(known), 1_000_000, p=chances / chances.sum())]


def make_data(path: Path, count: int, words: list[str]) -> Path:
    """Write a data directory with about `count` words in streams of STREAM words. The words are repeated as needed."""
    some = cycle(words)
    names = (f"{i // (STREAM // UTTERANCE):07}-{i:09}" for i in range(max(1, count // UTTERANCE)))
    write_data_dir(path, (Utterance(name, name[:7], list(islice(some, UTTERANCE))) for name in names))
    return path


def whole(model: Path, data: Path, out: Path) -> Usage:
    return measure([*PUNC, "punctuate", "--nj=2", "--posteriors=false", model, data, out], data)


def first_word(model: Path, words: list[str]) -> float:
    begin = time.perf_counter()
    with subprocess.Popen([*PUNC, "punctuate", model, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write((" ".join(words[:20]) + "\n").encode())
        process.stdin.flush()
        process.stdout.read(1)
        seconds = time.perf_counter() - begin
        process.stdin.close()
        process.stdout.read()
    return seconds


def piped(model: Path, words: list[str]) -> tuple[float, float]:
    """Run `punc punctuate MODEL -` on the words. Return the words per second, including start-up, and the peak resident
    size in MiB."""
    with tempfile.TemporaryFile() as file:
        file.write(" ".join(words).encode())
        file.seek(0)
        begin = time.perf_counter()
        result = subprocess.run([*MEASURED, model, "-"], stdin=file, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                check=True)
        return len(words) / (time.perf_counter() - begin), int(result.stderr.split()[1]) / 1024


def word_by_word(model: PackedModel, casing: Casing, words: list[str]) -> np.ndarray:
    """Return, for each word of one stream, the seconds from its arrival to the output that it makes possible."""
    labels, times = list(model.labels), np.empty(len(words) + 1)
    encode = model.tokenizer.word_encoder()

    stream, waiting = SlotStream(model), iter(words)
    for i, word in enumerate(words):
        times[i] = time.perf_counter()
        logits = stream.push(encode(word)[0], np.nan)
        if logits is not None:
            casing.write_word(next(waiting), labels[int(logits.argmax())])
    times[-1] = time.perf_counter()
    for word, logits in zip(waiting, stream.close()):
        casing.write_word(word, labels[int(logits.argmax())])
    return np.diff(times)


def main() -> None:
    options = argparse.ArgumentParser(description="Speed and memory of packed models.")
    options.add_argument("--model", default="en")
    options.add_argument("--live", default="en-live")
    options.add_argument("--data", type=Path)
    options.add_argument("--words", type=int, default=1_000_000)
    options.add_argument("--runs", type=int, default=3)
    args = options.parse_args()
    both, live = find_model(args.model), find_model(args.live)
    rows = [(f"matrix product, {n} thread{'s' * (n > 1)}", f"{gflops(n):8.0f} GFLOP/s") for n in (1, 2)]
    model = load_packed(live)
    words = words_of(args.data, model)
    stream, casing = list(islice(cycle(words), LIVE_WORDS)), Casing.read(model.labels, live / "casing.txt")
    starts = [first_word(live, words) for _ in range(5)]
    rows.append(("start-up to the first word", f"{statistics.median(starts):8.2f} s"))
    speeds, sizes = zip(*(piped(live, stream) for _ in range(args.runs)))
    rows += [("standard input from a file, with start-up", f"{statistics.median(speeds):8,.0f} words/s"),
             ("peak resident memory of this run", f"{max(sizes):8.0f} MiB")]
    with tempfile.TemporaryDirectory() as place:
        data, little = (make_data(Path(place) / f"data{n}", n, words) for n in (args.words, 1000))
        start, seconds = [], []
        for run in range(args.runs):
            for found, directory in ((start, little), (seconds, data)):
                usage = whole(both, directory, Path(place) / f"{directory.name}_{run}")
                found.append((usage.seconds, usage.cpu))
    (total, busy), (first, _) = (map(statistics.median, zip(*measured)) for measured in (seconds, start))
    rows += [("whole file, --nj 2, with start-up", f"{args.words / total:8,.0f} words/s"),
             ("whole file, --nj 2, without", f"{args.words / (total - first):8,.0f} words/s"),
             ("whole file, start-up", f"{first:8.2f} s"),
             ("whole file, processor time", f"{1e6 * busy / args.words:8.2f} µs a word, with start-up")]
    latencies = [word_by_word(model, casing, stream) for _ in range(args.runs)]
    rows.append(("word by word", f"{statistics.median(len(t) / t.sum() for t in latencies):8,.0f} words/s"))
    for name, part in (("median", 50), ("99th percentile", 99), ("slowest", 100)):
        seconds = statistics.median(np.percentile(t, part) for t in latencies)
        rows.append((f"latency, {name}", f"{1e6 * seconds:8,.0f} µs"))
    for name, value in rows:
        print(f"{name:<36}{value}")


if __name__ == "__main__":
    main()
