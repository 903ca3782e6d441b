"""Measures how fast models of the papers' sizes train in three settings: one thread, two threads, and two processes
with one thread each.

    python tests/bench/bench_ranks.py [--models NAME …] [--tokens N] [--rounds R]

The two processes run under torchrun, as in `torchrun --nproc-per-node 2 --no-python punc train …`. There are R rounds.
In each round, each model is trained on N tokens in each setting, after a warm-up. Prints for each setting the median
slots per second, the ratio to one thread, and the number of processors kept busy. If this number is lower than the
number of threads, other programs probably ran at the same time, and the ratios are not reliable. The last column is the
ratio that two ranks would reach if neither ever waited for the other, computed from the processor time of the first
rank. The training texts are random. The frequency of the n-th most frequent word is proportional to 1 / n. Texts of
characters have lines of 80 characters.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from itertools import islice

import torch
from papers import MODELS, batches_of, model_of, optimizer_of

from punc.base.processor import keep_freed_memory
from punc.training.epochs import train_epoch
from punc.training.ranks import find_ranks

SETTINGS = {"1 thread": (1, 1), "2 threads": (2, 1), "2 ranks": (1, 2)}  # threads, ranks


def worker(name: str, tokens: int, threads: int) -> None:
    """Train in this process, alone or as one of several ranks. The first rank prints the number of slots of all ranks,
    the elapsed seconds, and its processor seconds."""
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    keep_freed_memory()
    ranks = find_ranks()
    with ranks.join():
        model, (all_batches, _) = model_of(name), batches_of(name, tokens)
        updates = optimizer_of(model, name)

        def run(count: int | None) -> None:
            batches = islice(all_batches(), count)
            shares = batches if ranks.size == 1 else (b.share(ranks.rank, ranks.size) for b in batches)
            train_epoch(model.train(), updates, shares, ranks=ranks)

        run(3)
        done = sum(int((batch.labels >= 0).sum()) for batch in all_batches()) if ranks.first else 0
        begin, cpu = time.perf_counter(), time.process_time()
        run(None)
        if ranks.first:
            print(json.dumps([done, time.perf_counter() - begin, time.process_time() - cpu]))


def measure(name: str, tokens: int, threads: int, ranks: int) -> tuple[float, float]:
    """Train in new processes. Return the slots per second, and how many processors the first rank kept busy on
    average."""
    command = [sys.executable]
    if ranks > 1:
        command += ["-m", "torch.distributed.run", "--nproc-per-node", str(ranks)]
    command += [__file__, "--worker", name, "--threads", str(threads), "--tokens", str(tokens)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    slots, seconds, cpu = json.loads(done.stdout.splitlines()[-1])
    return slots / seconds, cpu / seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=[*MODELS], default=[*MODELS])
    parser.add_argument("--tokens", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=1, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        return worker(args.worker, args.tokens, args.threads)
    print("| model |", " | ".join(SETTINGS), "| 2 threads / 1 | 2 ranks / 1 | processors | bound |")
    print("|---" + "|--:" * 7 + "|")
    for name in args.models:
        rounds = [{title: measure(name, args.tokens, *setting) for title, setting in SETTINGS.items()}
                  for _ in range(args.rounds)]
        speeds = [statistics.median(found[title][0] for found in rounds) for title in SETTINGS]
        ratios = [statistics.median(found[title][0] / found["1 thread"][0] for found in rounds)
                  for title in list(SETTINGS)[1:]]
        had = [statistics.median(found[title][1] for found in rounds) for title in SETTINGS]
        bound = speeds[2] / had[2] / (speeds[0] / had[0])
        print(f"| {name} | " + " | ".join(f"{speed:,.0f}" for speed in speeds)
              + "".join(f" | {ratio:.2f}" for ratio in ratios)
              + f" | {had[0]:.2f} {had[1]:.2f} {2 * had[2]:.2f} | {bound:.2f} |", flush=True)


if __name__ == "__main__":
    main()
