"""Measures the machine's speed, for comparison with punc's speed in the same run."""

import statistics
import time

import torch


def gflops(threads: int, runs: int = 9, size: int = 1024, kind: torch.dtype = torch.float32) -> float:
    """Return the median rate of products of two size × size matrices, in GFLOP/s."""
    torch.set_num_threads(threads)
    a, b = torch.randn(size, size, dtype=kind), torch.randn(size, size, dtype=kind)
    seconds = []
    for _ in range(runs):
        begin = time.perf_counter()
        torch.mm(a, b)
        seconds.append(time.perf_counter() - begin)
    return 2e-9 * size**3 / statistics.median(seconds)
