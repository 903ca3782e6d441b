"""Measures the time and memory of `punc prepare`, `punc make-store` and the training of a T-LSTM on 386 million words.

    python tests/bench/bench_scale.py [--words N] [--updates U] [--nj N] [--dir DIR]

The text is random, but the same in each run. It is written to a scratch directory, which is removed at the end. The
text takes 2.2 GB, and all files together take 9 GB. Word frequencies fall as 1 / rank up to rank 10,000 and as
1 / rank^1.8 beyond that (Ferrer i Cancho & Solé 2001), so new words keep coming: the vocabulary has 0.25 million words
after 10 million words of text, and 1.9 million after 386 million. Each mark depends on the word after it. Documents
have 500 words. The T-LSTM is as large as in its paper. It is trained for U updates of 100 × 5 words; then the
development set is scored, and the model is written.

Memory is the peak of all processes of a command together, with shared pages counted once (PSS), sampled every 0.1 s.
Mapped pages of the text, the tables and the store are not counted, because the system can reclaim them at any time;
"mapped" shows their size.
"""

import argparse
import os
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

import numpy as np
from processes import PUNC, Usage, measure

WORDS, DEV_WORDS = 386_000_000, 200_000
BLOCK, DOCUMENT, LINE = 500_000, 500, 25  # words in a block, a document and a line
# Word frequencies fall as 1 / rank up to rank COMMON, and as 1 / rank ** EXPONENT beyond it.
COMMON, EXPONENT = 10_000, 1.8
CONSONANTS, VOWELS, CODAS = (np.frombuffer(letters, np.uint8) for letters in (b"bcdfghklmprt", b"aeiou", b"nrstlm"))
SYLLABLES = len(CONSONANTS) * len(VOWELS)
MARKS = np.frombuffer(b"\0,.?", np.uint8)
# Probabilities of no mark, comma, period and question mark before a word. Each row is for one of four kinds of words.
CHANCES = np.array([[.98, .01, .009, .001], [.97, .02, .009, .001], [.78, .15, .06, .01], [.60, .12, .26, .02]])
LABELS = "O w\nCOMMA w, , :\nPERIOD w. . ! ;\nQUESTION w? ?\n"
TRAIN = [sys.executable, __file__, "--train"]


def draw_ranks(rng: np.random.Generator, size: int) -> np.ndarray:
    """Draw the ranks of `size` words, as int64 from 0, by inverting the cumulative distribution of ranks."""
    head, tail = np.log(COMMON), 1 / (EXPONENT - 1)
    drawn = rng.random(size) * (head + tail)
    rare = COMMON * np.maximum(1 - (drawn - head) / tail, 1e-12) ** -tail
    return np.where(drawn < head, np.exp(np.minimum(drawn, head)), rare).astype(np.int64) - 1


def draw_marks(rng: np.random.Generator, ranks: np.ndarray) -> np.ndarray:
    """Return the mark after each word as an index into MARKS. The mark depends on the next word."""
    kinds = np.append(ranks[1:], 0) * 2654435761 % 65521 % 7 % 4
    drawn, limits = rng.random((len(ranks), 1)), CHANCES.cumsum(axis=1)[kinds, :3]
    return (drawn > limits).sum(axis=1)


def spell(ranks: np.ndarray, marks: np.ndarray) -> bytes:
    """Return the text of words with their marks. Sentences begin with a capital, and documents with `#doc`."""
    text = np.zeros((len(ranks), 26), np.uint8)  # 0: no character
    words, rest = np.arange(len(ranks)), ranks
    for column in range(0, 16, 2):
        text[words, column] = CONSONANTS[rest % 12]
        text[words, column + 1] = VOWELS[rest // 12 % 5]
        longer = rest >= SYLLABLES
        words, rest = words[longer], rest[longer] // SYLLABLES - 1
    text[:, 16] = CODAS[ranks % 7 % 6]
    text[1:, 0] -= 32 * (marks[:-1] > 1).astype(np.uint8)
    text[:, 17] = MARKS[marks]
    text[:, 18] = 32
    text[LINE - 1::LINE, 18] = 10
    text[DOCUMENT - 1:-1:DOCUMENT, 19:24] = np.frombuffer(b"#doc\n", np.uint8)
    return text[text > 0].tobytes()


def write_text(path: Path, words: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    with open(path, "wb") as file:
        for done in range(0, words, BLOCK):
            ranks = draw_ranks(rng, min(BLOCK, words - done))
            file.write(b"#doc\n" + spell(ranks, draw_marks(rng, ranks)) + b"\n" * (len(ranks) % LINE > 0))


def train(store: str, directory: str, updates: int, threads: int) -> None:
    """Train like `punc train`, for one epoch of `updates` updates. Print the number of words in these updates, and how
    many seconds they took."""
    from punc.training import train as training
    from punc.training.options import TrainingOptions
    batches_of = training.epoch_batches
    timed = {"words": 0, "seconds": 0.0}

    def some(*arguments):
        begin = time.perf_counter()
        for batch in islice(batches_of(*arguments), updates):
            yield batch
            timed["words"] += int((batch.labels >= 0).sum())
        timed["seconds"] = time.perf_counter() - begin

    training.epoch_batches = some
    options = TrainingOptions(train_set="train", dev_set="dev", epochs=1, optimizer="adagrad", learning_rate=0.1,
                              batch_size=100, bptt=5, threads=threads)
    training.train(store, directory, "t_lstm", {}, options)
    print(timed["words"], timed["seconds"], file=sys.stderr)


def report(what: str, words: int, seconds: float, usage: Usage) -> None:
    print(f"{what:<11} {usage.seconds:7.1f} s {usage.cpu:7.1f} s of processor time {words / seconds:11,.0f} words/s "
          f"{usage.memory / 2**20:7,.0f} MiB, mapped {usage.mapped / 2**20:,.0f} MiB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=WORDS)
    parser.add_argument("--updates", type=int, default=2000)
    parser.add_argument("--nj", type=int, default=len(os.sched_getaffinity(0)), help="processes; training threads")
    parser.add_argument("--dir", type=Path, help="where the scratch directory is made")
    parser.add_argument("--train", nargs=2, metavar=("STORE", "DIR"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.train:
        return train(*args.train, args.updates, args.nj)
    with tempfile.TemporaryDirectory(dir=args.dir) as place:
        place = Path(place).resolve()
        (place / "labels.txt").write_text(LABELS)
        begin = time.perf_counter()
        for name, words, seed in ("dev", DEV_WORDS, 1), ("train", args.words, 2):
            write_text(place / f"{name}.txt", words, seed)
        print(f"{args.words:,} words, {(place / 'train.txt').stat().st_size / 2**20:,.0f} MiB of text, made in "
              f"{time.perf_counter() - begin:.0f} s; {args.nj} processes", flush=True)
        options = ["--labels", place / "labels.txt", "--nj", args.nj]
        prepare = [*PUNC, "prepare", "--format", "prose", "--document-prefix", "#doc", *options]
        measure([*prepare, place / "dev.txt", place / "dev"], place)
        usage = measure([*prepare, place / "train.txt", place / "train"], place)
        report("prepare", args.words, usage.seconds, usage)
        usage = measure([*PUNC, "make-store", *options, place / "store", place / "train", place / "dev"], place)
        report("make-store", args.words + DEV_WORDS, usage.seconds, usage)
        usage = measure([*TRAIN, place / "store", place / "exp", "--updates", args.updates, "--nj", args.nj], place)
        words, seconds = map(float, usage.output.split()[-2:])
        report("training", words, seconds, usage)
        print(f"an epoch: {args.words * seconds / words / 3600:.1f} h")


if __name__ == "__main__":
    main()
