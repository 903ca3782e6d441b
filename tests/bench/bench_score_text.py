"""Measures the time and memory of `punc score-text` on one long text.

    python tests/bench/bench_score_text.py [--words N] [--lines N]

The reference has N words (default 1,000,000) with Zipf frequencies and a mark after every seventh word, split into
--lines lines (default 1). In the other text, one word in ten is substituted, missing or inserted, and one mark in five
is missing.
"""

import argparse
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
from processes import PUNC, measure


def texts(count: int) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(1)
    numbers = rng.zipf(1.3, count) % 30000
    marks = np.array(["", ",", ".", "?"])[np.where(np.arange(count) % 7 == 6, rng.choice([1, 2, 3], count), 0)]
    error, mark_is_kept = rng.random(count), rng.random(count) < 0.8
    reference, other = [], []
    for number, mark, chance, kept in zip(numbers.tolist(), marks.tolist(), error.tolist(), mark_is_kept.tolist()):
        reference.append(f"w{number}{mark}")
        if chance < 0.03:
            continue
        word = f"w{number + 1}" if chance < 0.08 else f"w{number}"
        other += [f"{word}{mark if kept else ''}", "inserted"][:1 + (chance > 0.98)]
    return reference, other


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=1_000_000)
    parser.add_argument("--lines", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        place, paths = Path(name), [Path(name) / side for side in ("reference.txt", "other.txt")]
        for path, words in zip(paths, texts(args.words)):
            cuts = np.linspace(0, len(words), args.lines + 1).astype(int).tolist()
            path.write_text("".join(f"{' '.join(words[low:high])}\n" for low, high in pairwise(cuts)))
        usage = measure([*PUNC, "score-text", *paths], place)
        print(f"{usage.seconds:.1f} s, {usage.cpu:.1f} s of processor time, {usage.memory >> 20} MiB")


if __name__ == "__main__":
    main()
