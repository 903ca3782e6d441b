"""How fast T-LSTM trains at the paper's size, compared with the machine's rate of matrix products in the same run.

    python tests/bench/bench_train.py [--words N] [--runs R] [--store DIR --set NAME]

Without a store, the text is N words drawn by Zipf's law from 100,000. A word costs 480 kFLOP: 80,000 weights (100 × 400
twice), each used once forward and twice backward, with 2 operations. Each distinct word of a batch is projected only
once, so a batch costs less than that, and a text with many repetitions may exceed the "limit".
"""

import argparse
import os
import statistics
import time

import numpy as np
import torch
from machine import gflops

from punc.models.t_lstm import Model
from punc.tokens.batches import stateful
from punc.tokens.store import Store
from punc.tokens.store_set import StoreSet
from punc.training.epoch import train_epoch
from punc.training.losses import LabelLoss
from punc.training.optim import Optimizer

FLOP_PER_WORD = 480e3


def synthetic(words: int) -> StoreSet:
    rng = np.random.default_rng(0)
    ranks = np.exp(rng.random(words) * np.log(100000)).astype(np.int32)  # frequency ~ 1 / rank
    labels = rng.choice(4, words, p=[0.86, 0.075, 0.06, 0.005]).astype(np.int8)
    return StoreSet(ranks + 1, labels, None, ["s"], np.array([0, words]))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--words", type=int, default=500000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--store")
    parser.add_argument("--set", default="train")
    args = parser.parse_args()
    data = Store(args.store).set(args.set) if args.store else synthetic(args.words)
    data = data._replace(ids=data.ids[:args.words], labels=data.labels[:args.words], streams=["s"],
                         offsets=np.array([0, args.words]))
    print(f"{'threads':>7} {'words/s':>9} {'GFLOP/s of products':>20} {'limit words/s':>14} {'reached':>8}")
    for threads in sorted({1, len(os.sched_getaffinity(0))}):
        torch.set_num_threads(threads)
        torch.manual_seed(1)
        model = Model(100002, 4)
        updates = Optimizer(model, "adagrad", 0.1)
        speeds, rates = [], []
        for run in range(args.runs + 1):  # the first one warms up
            rate, begin = 1e9 * gflops(threads), time.perf_counter()
            train_epoch(model, updates, stateful(data, model.lookahead, 100, 5), LabelLoss())
            if run:
                speeds.append(args.words / (time.perf_counter() - begin))
                rates.append(rate)
        speed, rate = statistics.median(speeds), statistics.median(rates)
        limit = rate / FLOP_PER_WORD
        print(f"{threads:7} {speed:9,.0f} {rate / 1e9:20.0f} {limit:14,.0f} {speed / limit:8.0%}")


if __name__ == "__main__":
    main()
