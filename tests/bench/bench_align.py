"""Alignment of two long texts: median seconds of 3 runs, peak memory, and the distance next to the errors made.

    python tests/bench/bench_align.py [WORDS] [ERRORS]         (1,000,000 words and 0.15 by default)

The words are drawn from 50,000 with Zipf frequencies; the errors are substitutions, deletions and insertions in
equal parts. Peak memory is that of the whole process, with both texts.
"""

import resource
import statistics
import sys
import time

import numpy as np

from punc.timing.align import align_words


def texts(n_words: int, errors: float, n_types: int = 50_000, seed: int = 0) -> tuple[list[str], list[str], int]:
    """A text, a copy with errors, and the number of errors made."""
    random = np.random.default_rng(seed)
    names = [f"word{i}" for i in range(n_types)]
    chances = 1 / np.arange(1, n_types + 1)
    words = random.choice(n_types, n_words, p=chances / chances.sum())
    kind = random.random(n_words) // (errors / 3)  # 0 substitution, 1 deletion, 2 insertion before, others none
    noisy = np.where(kind == 0, random.integers(0, n_types, n_words), words)
    source = np.repeat(np.arange(n_words), np.select([kind == 1, kind == 2], [0, 2], 1))
    inserted = np.append(source[1:] == source[:-1], False)
    hyp = np.where(inserted, random.integers(0, n_types, len(source)), noisy[source])
    return [names[i] for i in words], [names[i] for i in hyp], int((kind <= 2).sum())


def main() -> None:
    n_words = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    errors = float(sys.argv[2]) if len(sys.argv) > 2 else 0.15
    ref, hyp, n_errors = texts(n_words, errors)
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        alignment = align_words(ref, hyp)
        seconds.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{len(ref):,} x {len(hyp):,} words: {statistics.median(seconds):.2f} s, peak {peak:.2f} GiB")
    print(f"distance {alignment.distance:,}, errors made {n_errors:,}, WER {100 * alignment.wer:.2f} %")


if __name__ == "__main__":
    main()
