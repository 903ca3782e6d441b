"""How fast BLSTM-CRF trains and decodes with the sizes of the recipe, and what its CRF and its characters cost.

    python tests/bench/bench_blstm.py [--batch-size R] [--chunk-size N] [--context N] [--threads T] [--words N]

The words are random, with frequencies 1 / rank and six letters on average, from a vocabulary as large as that of TED
talks. Decoding reads 64 words around a chunk, as the recipe does. The last column is the machine's rate of matrix
products in the same run. Times are CPU times of the process, so they hold on a busy machine.
"""

import argparse
import itertools
import os
import statistics
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from bench_char import rate

from punc.base.processor import has_bfloat16
from punc.data.labels import Label, LabelSet
from punc.decoding.decode import decode
from punc.models.base import create
from punc.tokens.batches import gather
from punc.tokens.chunks import by_length, cut
from punc.tokens.store_set import StoreSet
from punc.tokens.vocabulary import Vocabulary
from punc.training.epochs import train_epoch
from punc.training.optim import Optimizer

WORDS = 28000
LABELS = LabelSet(tuple(Label(name, "w" + mark) for name, mark in zip("OABCDEFGHI", ["", *",.?!:;-()"])))
KINDS = {"BLSTM-CRF": {}, "BLSTM-softmax": {"crf": False}, "without characters": {"characters": False}}


def vocabulary() -> Vocabulary:
    rng, words = np.random.default_rng(0), dict.fromkeys(("<unk>", "</s>"))
    while len(words) < WORDS:
        words["".join(rng.choice(list("etaoinshrdlucmfwypvbgkjqxz"), rng.poisson(5) + 1))] = None
    return Vocabulary(list(words))


def data_of(words: int) -> StoreSet:
    rng = np.random.default_rng(0)
    ranks = np.exp(rng.random(words) * np.log(WORDS - 2)).astype(np.int32)
    labels = rng.choice(len(LABELS), words, p=[0.73, *[0.03] * 9]).astype(np.int8)
    return StoreSet(ranks + 1, labels, None, ["s"], np.array([0, words]))


def median_seconds(run: Callable, *arguments: object) -> float:
    """The median CPU time of three runs, after one that warms up."""
    seconds = []
    for _ in range(4):
        begin = time.process_time()
        run(*arguments)
        seconds.append(time.process_time() - begin)
    return statistics.median(seconds[1:])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--chunk-size", type=int, default=128)
    parser.add_argument("--context", type=int, default=16)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--words", type=int, default=16384)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    words, data = vocabulary(), data_of(args.words)
    print(f"{'':<26} {'training':>9} {'decoding':>9} words/s of a core")
    for (name, options), bfloat16 in itertools.product(KINDS.items(), (False, True)[:1 + has_bfloat16()]):
        torch.manual_seed(1)
        model = create("blstm_crf", words, LABELS, options)
        updates = Optimizer(model, "adam", 0.001, max_grad_norm=5.0)
        chunks = cut(data.offsets, None, args.chunk_size, args.context)
        batches = [gather(data, chunks, group, None) for group in by_length(chunks, args.batch_size)]
        products = rate(args.threads, torch.bfloat16 if bfloat16 else torch.float32)
        model.train()
        training = median_seconds(train_epoch, model, updates, batches, bfloat16=bfloat16) / args.threads
        model.eval()
        run = partial(decode, model, data, context=64)
        decoding = "" if bfloat16 else f"{len(data.ids) / median_seconds(run):9,.0f}"
        print(f"{name + ' bf16' * bfloat16:<26} {len(data.ids) / training / args.threads:9,.0f} {decoding:>9}   "
              f"{products:.0f} GFLOP/s", flush=True)


if __name__ == "__main__":
    main()
