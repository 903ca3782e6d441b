"""How fast `punc prepare` and `punc make-store` are, and how much memory they take.

    tests/bench/bench_store.py [--words N] [--text FILE] [--noise P] [--runs R] [--nj N] [--token-type NAME]

Makes a punctuated text of N words: the text of FILE, or one of a small built-in vocabulary, over and over. With
probability P a word is replaced by one that occurs nowhere else. Then runs both commands on the text R times. Prints,
for each command, the median words/s and the peak memory of all its processes together; pages that they share count more
than once. The rate of a matrix product on all cores shows how fast the machine is.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

BLOCK = 1 << 18  # words that are made at once
LABELS = "O w\nCOMMA w, ,\nPERIOD w. . ! ;\nQUESTION w? ?\n"


def builtin_words(count: int = 1 << 20, types: int = 30000) -> list[str]:
    """Words with marks: made-up words of a Zipf distribution; one in seven has a mark."""
    rng = np.random.default_rng(1)
    syllables = np.array([a + b for a in "bcdfghklmnprstvw" for b in "aeiou"])
    words = ["".join(syllables[rng.integers(len(syllables), size=1 + int(np.log1p(i) / 3))]) for i in range(types)]
    chances = 1 / np.arange(1, types + 1)
    marks = rng.choice(["", ",", ".", "?"], count, p=[0.86, 0.07, 0.06, 0.01])
    return [words[i] + mark for i, mark in zip(rng.choice(types, count, p=chances / chances.sum()), marks)]


def write_text(path: Path, words: list[str], count: int, noise: float) -> None:
    """Write `count` words, 16 in a line."""
    rng, done = np.random.default_rng(2), 0
    words = np.array(words, object)
    with open(path, "w", encoding="utf-8") as file:
        while done < count:
            block = np.take(words, range(done, done + min(BLOCK, count - done)), mode="wrap")
            for i in np.flatnonzero(rng.random(len(block)) < noise):
                block[i] = f"n{rng.integers(1 << 50):x}"
            file.writelines(" ".join(block[i:i + 16]) + "\n" for i in range(0, len(block), 16))
            done += len(block)


def memory(process: int) -> int:
    """Bytes in memory of a process and its descendants; 0 if it has ended."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
        below = [child for task in Path(f"/proc/{process}/task").iterdir()  # each thread has its own
                 for child in (task / "children").read_text().split()]
    except (OSError, IndexError):
        return 0
    return pages * resource.getpagesize() + sum(map(memory, map(int, below)))


def measure(command: list[str]) -> tuple[float, int]:
    """Seconds that a command takes, and the peak memory of its processes together, in bytes."""
    start, peak = time.perf_counter(), 0
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    while process.poll() is None:
        peak = max(peak, memory(process.pid))
        time.sleep(0.05)
    if process.returncode:
        sys.exit(process.stderr.read().decode())
    return time.perf_counter() - start, peak


def matrix_rate(size: int = 2000) -> float:
    """GFLOP/s of a float32 matrix product on all cores, the median of five."""
    a = np.ones((size, size), np.float32)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        a @ a
        times.append(time.perf_counter() - start)
    return 2e-9 * size ** 3 / statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=10_000_000)
    parser.add_argument("--text", type=Path)
    parser.add_argument("--noise", type=float, default=0.01)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--nj", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--token-type", default="word")
    args = parser.parse_args()
    words = args.text.read_text(encoding="utf-8").split() if args.text else builtin_words()
    with tempfile.TemporaryDirectory() as place:
        place = Path(place)
        write_text(place / "train.txt", words, args.words, args.noise)
        (place / "labels.txt").write_text(LABELS)
        options = ["--labels", place / "labels.txt", "--nj", str(args.nj)]
        commands = {"prepare": ["--format", "prose", *options, place / "train.txt", place / "train"],
                    "make-store": ["--token-type", args.token_type, *options, place / "store", place / "train"]}
        seconds, peaks = {name: [] for name in commands}, dict.fromkeys(commands, 0)
        for _ in range(args.runs):
            for name, arguments in commands.items():
                shutil.rmtree(arguments[-1] if name == "prepare" else arguments[-2], ignore_errors=True)
                taken, peak = measure(["punc", name, *map(str, arguments)])
                seconds[name].append(taken)
                peaks[name] = max(peaks[name], peak)
        print(f"{args.words:,} words, {(place / 'train.txt').stat().st_size >> 20} MiB, {args.nj} processes, "
              f"medians of {args.runs} runs; matrix product {matrix_rate():.0f} GFLOP/s")
    both = [sum(times) for times in zip(*seconds.values())]
    for name, times in {**seconds, "both": both}.items():
        peak = max(peaks.values()) if name == "both" else peaks[name]
        print(f"{name:<12}{statistics.median(times):8.1f} s {args.words / statistics.median(times):12,.0f} words/s   "
              f"peak memory {peak >> 20} MiB")


if __name__ == "__main__":
    main()
