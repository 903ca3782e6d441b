"""How fast the window models train with the sizes of the paper, compared with the machine's rate of matrix products.

    python tests/bench/bench_window.py [--batches N] [--batch-size R] [--threads T] [--model window_dnn] …

A sample costs 6 operations for each weight of the matrix products (one multiplication and one addition forward, two of
each backward), and 4 in the first layer if its input needs no gradient. It costs less if the units that a batch drops
are not computed (--shared-dropout). "limit" is the speed if only matrix products took time, at their rate in the same
run, float32 or bfloat16.
"""

import argparse
import os
import statistics
import time

import numpy as np
import torch
from machine import gflops

from punc.base.memory import keep_freed_memory
from punc.models.base import model_class
from punc.tokens.batches import stateful
from punc.tokens.store_set import StoreSet
from punc.training.epoch import train_epoch
from punc.training.losses import LabelLoss
from punc.training.optim import Optimizer

OPTIONS = {"dropout": 0.0}, {"dropout": 0.5, "shared_dropout": False}, {"dropout": 0.2}, {"dropout": 0.5}
SETTINGS = [(options, bfloat16) for bfloat16 in (False, True) for options in OPTIONS]
EPOCH = 2e6  # samples


def matrix_flop(model: torch.nn.Module, kept: float) -> float:
    """Operations of the fully connected layers for a sample, if a share `kept` of the hidden units is computed."""
    shapes = [layer.weight.shape for layer in model.classifier.layers]
    inside = [(rows * (kept if number < len(shapes) - 1 else 1)) * (columns * (kept if number else 1))
              for number, (rows, columns) in enumerate(shapes)]
    return 6 * sum(inside) - 2 * inside[0] * (model.input.vectors.file != "")


def data_of(samples: int) -> StoreSet:
    rng = np.random.default_rng(0)
    ranks = np.exp(rng.random(samples) * np.log(14000)).astype(np.int32)  # frequency ~ 1 / rank
    labels = rng.choice(4, samples, p=[0.86, 0.075, 0.06, 0.005]).astype(np.int8)
    return StoreSet(ranks + 1, labels, None, ["s"], np.array([0, samples]))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="window_dnn")
    parser.add_argument("--batches", type=int, default=16)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--bptt", type=int, default=1)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--optimizer", default="adam")
    parser.add_argument("--settings", type=int, nargs="*", default=range(len(SETTINGS)))
    args = parser.parse_args()
    data = data_of(args.batches * args.batch_size * args.bptt)
    torch.set_num_threads(args.threads)
    keep_freed_memory()  # as training does
    print(f"{'':<46} {'samples/s':>9} {'min an epoch':>12} {'products':>14} {'limit, min':>10}")
    for number in args.settings:
        options, bfloat16 = SETTINGS[number]
        torch.manual_seed(1)
        # Vectors of a file are not trained; their values do not matter for the speed.
        model = model_class(args.model)(14447, 4, vectors="any", **options)
        updates = Optimizer(model, args.optimizer, 0.01)
        speeds, rates = [], []
        for run in range(4):  # the first one warms up
            rate = 1e9 * gflops(args.threads, kind=torch.bfloat16 if bfloat16 else torch.float32)
            begin = time.perf_counter()
            batches = stateful(data, model.lookahead, args.batch_size, args.bptt)
            train_epoch(model.train(), updates, batches, LabelLoss(), bfloat16)
            if run:
                speeds.append(len(data.ids) / (time.perf_counter() - begin))
                rates.append(rate)
        speed, rate = statistics.median(speeds), statistics.median(rates)
        kept = 1 - options["dropout"] if options.get("shared_dropout", True) else 1.0
        setting = f"{options}{' bfloat16' * bfloat16}"
        print(f"{setting:<46} {speed:9,.0f} {EPOCH / speed / 60:12.1f} "
              f"{rate / 1e9:6.0f} GFLOP/s {EPOCH * matrix_flop(model, kept) / rate / 60:10.1f}", flush=True)


if __name__ == "__main__":
    main()
