"""How fast the character-level models train with the sizes of the paper, and how long they take for a live character.

    python tests/bench/bench_char.py [--batches N] [--batch-size R] [--length L] [--threads T] [--models delay …]

A character costs 6 operations for each weight of the matrix products: one multiplication and one addition forward, two
of each backward. "limit" is the speed if only matrix products took time, at their rate in the same run. Times are CPU
times of the process, so they hold on a busy machine. Texts are sentences of L characters, in batches of R
(--batching=chunks, which groups texts by length, so that there is little padding in a large corpus).
"""

import argparse
import itertools
import os
import statistics
import time

import numpy as np
import torch

from punc.base.processor import has_bfloat16
from punc.live.stream import streaming_logits
from punc.models.base import model_class
from punc.tokens.batches import gather
from punc.tokens.chunks import by_length, cut
from punc.tokens.store_set import StoreSet
from punc.tokens.vocabulary import END
from punc.training.epochs import train_epoch
from punc.training.optim import Optimizer

MODELS = ("delay", "ngram_lstm", "cnn_feature", "cnn_ngram", "dilated_cnn", "bi_lstm")
CHARACTERS = 50
SENTENCES = 1e5  # in an epoch


def data_of(texts: int, length: int) -> StoreSet:
    """Random texts whose last token is END, with slots after about every sixth character."""
    rng = np.random.default_rng(0)
    offsets = np.arange(texts + 1) * length
    ids = rng.integers(2, CHARACTERS, offsets[-1]).astype(np.int32)
    labels = np.where(rng.random(offsets[-1]) < 1 / 6, rng.integers(0, 4, offsets[-1]), -1).astype(np.int8)
    ids[offsets[1:] - 1], labels[offsets[1:] - 1] = END, 2
    return StoreSet(ids, labels, None, [""] * texts, offsets)


def matrix_flop(model: torch.nn.Module) -> float:
    """Operations for a character in training: all weights except the embedding and the biases."""
    return 6 * sum(weight.numel() for name, weight in model.named_parameters()
                   if "bias" not in name and not name.startswith("embedding"))


def training(model: torch.nn.Module, data: StoreSet, batch_size: int, threads: int,
             bfloat16: bool) -> tuple[float, float]:
    """Seconds for a character, and the machine's rate in operations a second, medians of three runs."""
    updates, chunks = Optimizer(model, "adam", 0.001, max_grad_norm=1.0), cut(data.offsets, model.lookahead, 1 << 20, 0)
    batches = [gather(data, chunks, group, model.lookahead) for group in by_length(chunks, batch_size)]
    seconds, rates = [], []
    for run in range(4):  # the first one warms up
        rates.append(1e9 * rate(threads, torch.bfloat16 if bfloat16 else torch.float32))
        begin = time.process_time()
        train_epoch(model.train(), updates, batches[:1] if run == 0 else batches, bfloat16=bfloat16)
        seconds.append((time.process_time() - begin) / threads / len(data.ids))
    return statistics.median(seconds[1:]), statistics.median(rates[1:])


def rate(threads: int, kind: torch.dtype, size: int = 1024) -> float:
    """The machine's rate, as by machine.gflops but in CPU time."""
    a, b = torch.randn(size, size).to(kind), torch.randn(size, size).to(kind)
    seconds = []
    for _ in range(5):
        begin = time.process_time()
        torch.mm(a, b)
        seconds.append((time.process_time() - begin) / threads)
    return 2e-9 * size**3 / statistics.median(seconds)


def microseconds_live(model: torch.nn.Module, characters: int) -> float:
    """The CPU time of a live character."""
    rng, spent = np.random.default_rng(0), []
    for _ in range(3):
        begin = time.process_time()
        tokens = rng.integers(2, CHARACTERS, characters).tolist()
        for _ in streaming_logits(model.eval(), ((token, np.nan) for token in tokens)):
            pass
        spent.append(time.process_time() - begin)
    return 1e6 * min(spent) / (characters + model.lookahead)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", nargs="*", default=MODELS)
    parser.add_argument("--batches", type=int, default=1)
    parser.add_argument("--batch-size", type=int, default=100)
    parser.add_argument("--length", type=int, default=80)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--live", type=int, default=500, help="characters")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    data = data_of(args.batches * args.batch_size, args.length)
    print(f"{'':<17} {'chars/s':>9} {'limit':>9} {'of it':>6} {'products':>14} {'min an epoch':>13} {'live, µs':>9}")
    for name, bfloat16 in itertools.product(args.models, (False, True)[:1 + has_bfloat16()]):
        torch.manual_seed(1)
        model = model_class(name)(CHARACTERS, 4)
        seconds, speed = training(model, data, args.batch_size, args.threads, bfloat16)
        limit = speed / matrix_flop(model)
        stepped = "-" if model.lookahead is None else f"{microseconds_live(model, args.live):.0f}"
        print(f"{name + ' bf16' * bfloat16:<17} {1 / seconds:9,.0f} {limit:9,.0f} {1 / seconds / limit:6.0%} "
              f"{speed / 1e9:6.0f} GFLOP/s {SENTENCES * args.length * seconds / 60:13.1f} {stepped:>9}", flush=True)


if __name__ == "__main__":
    main()
