"""How long word vectors of a file take to read, and how much memory.

    python tests/bench/bench_word_vectors.py [--words N] [--dimensions D]

The file is made up, in GloVe's format. Each reading is a process of its own; its memory is the peak beyond what Python
and its modules take.
"""

import argparse
import multiprocessing
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from punc.tokens.word_vectors import read_word_vectors


def write(path: Path, words: int, dimensions: int) -> None:
    rng = np.random.default_rng(0)
    with open(path, "w", encoding="ascii") as file:
        for number in range(words):
            file.write(f"w{number} {' '.join(map('{:.5g}'.format, rng.normal(0, 0.5, dimensions)))}\n")


def read(path: Path, words: int, dimensions: int, results: multiprocessing.Queue) -> None:
    vocabulary = [f"w{number}" for number in range(words)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.process_time()
    read_word_vectors(path, vocabulary, dimensions)
    results.put((time.process_time() - begin, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--words", type=int, default=400000)
    parser.add_argument("--dimensions", type=int, default=50)
    args = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.txt"
        write(path, args.words, args.dimensions)
        for words in (args.words // 9, args.words):
            results = context.Queue()
            process = context.Process(target=read, args=(path, words, args.dimensions, results))
            process.start()
            seconds, memory = results.get()
            process.join()
            print(f"{words} of {args.words} words: {seconds:.1f} s, {memory:.0f} MiB")


if __name__ == "__main__":
    main()
