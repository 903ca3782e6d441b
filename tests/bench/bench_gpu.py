"""Measures a GPU: its rate of matrix products, the training speed of the papers' models, and agreement with the CPU.

    python tests/bench/bench_gpu.py [--device cuda] [--parts matrix speed agreement] [--size S]

Prints Markdown tables. Needs no corpus, no trained model, and no packages other than punc's requirements. With --device
cpu, all parts run on the CPU, and columns about the GPU show results of the CPU. If a model fails, its row shows this,
and the next model runs.

matrix      floating-point operations per second in products of large matrices, for each data type
speed       words or characters per second in training; floating-point operations per second (six per token for each
            trained weight of a matrix product) as a percentage of the matrix rate for the same data type; and how often
            the CPU waits for the GPU in one update
agreement   for a model trained on the same few batches by the CPU and by the GPU: the mean losses, the largest
            difference in posteriors after training, and the percentage of slots with the same label
"""

import argparse
import copy
import statistics
import time
import traceback
import warnings
from collections.abc import Callable
from functools import partial
from itertools import islice

import torch
from papers import MODELS, batches_of, model_of, optimizer_of
from torch import Tensor

from punc.base.processor import find_device, has_bfloat16
from punc.training.batching import Batch
from punc.training.epochs import train_epoch

TOKENS = 400_000  # tokens in the training set used to measure speed
EXACT = {"dropout": 0.0, "unknown": 0.0}  # without randomness, because devices draw different random numbers


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def seconds(run: Callable[[], object], device: torch.device, least: float = 0.3) -> float:
    """Return the median time of a call in seconds. After a warm-up, `run` is called at least five times, and for at
    least `least` seconds."""
    for _ in range(3):
        run()
    spent: list[float] = []
    while sum(spent) < least or len(spent) < 5:
        wait(device)
        begin = time.perf_counter()
        run()
        wait(device)
        spent.append(time.perf_counter() - begin)
    return statistics.median(spent)


def matrix_rate(device: torch.device, kind: torch.dtype) -> float:
    size = 8192 if device.type == "cuda" else 1024
    a, b = (torch.randn(size, size, device=device).to(kind) for _ in range(2))
    return 2 * size**3 / seconds(lambda: torch.mm(a, b), device)


def print_matrix_rates(device: torch.device, rates: dict[torch.dtype, float]) -> None:
    for kind, rate in rates.items():
        print(f"| {str(kind).removeprefix('torch.')} | {rate / 1e12:.2f} TFLOP/s |")


def operations(model: torch.nn.Module) -> int:
    """Return the number of floating-point operations per token in training: six for each trained weight of a matrix
    product."""
    return 6 * sum(w.numel() for name, w in model.named_parameters()
                   if w.dim() > 1 and w.requires_grad and not name.startswith(("embedding", "vectors", "spelling")))


def waits(run: Callable[[], object], device: torch.device) -> int:
    """Call `run`, and return how many operations made the CPU wait for the GPU."""
    if device.type != "cuda":
        return 0
    torch.cuda.set_sync_debug_mode("warn")
    try:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            run()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return sum("synchroniz" in str(warning.message) for warning in found)


def print_speed(device: torch.device, rates: dict[torch.dtype, float], size: float) -> None:
    print("| model | type | tokens/s | of the matrix rate | waits a step |\n|---|---|--:|--:|--:|")
    for title in MODELS:
        begin_batches, tokens = batches_of(title, int(TOKENS * size))
        for kind, rate in rates.items():
            torch.manual_seed(1)
            model = model_of(title).to(device).train()
            epoch = partial(train_epoch, model, optimizer_of(model, title), bfloat16=kind == torch.bfloat16)
            try:
                some = list(islice(begin_batches(), 20))
                epoch(batches=iter(some))
                count = waits(lambda epoch=epoch, some=some: epoch(batches=iter(some)), device) / len(some)
                begin = time.perf_counter()
                epoch(batches=begin_batches())
                speed = tokens / (time.perf_counter() - begin)
                row = f"{speed:,.0f} | {speed * operations(model) / rate:.2%} | {count:.1f}"
            except Exception as error:
                traceback.print_exc()
                row = f"failed: {type(error).__name__} | |"
            print(f"| {title} | {str(kind).removeprefix('torch.')} | {row} |", flush=True)


def after_training(model: torch.nn.Module, title: str, batches: list[Batch]) -> tuple[float, Tensor]:
    """Train on the batches. Return the mean loss, and the trained model's log-posteriors (N, L) of the batches'
    slots."""
    loss = train_epoch(model.train(), optimizer_of(model, title), iter(batches))
    found, state = [], ()
    with torch.inference_mode():
        for batch in batches:
            on = batch.to(model.device)
            state = model.initial_state(len(on.tokens)) if batch.fresh else state
            logits, state = model.eval()(on.tokens, on.pauses, state)
            found.append(model.log_posteriors(logits, on.tokens).cpu()[batch.labels >= 0])
    return loss, torch.cat(found)


def print_agreement(device: torch.device) -> None:
    print("| model | loss, CPU | loss, GPU | largest difference | same labels |\n|---|--:|--:|--:|--:|")
    for title in MODELS:
        torch.manual_seed(1)
        model = model_of(title, **EXACT)
        batches = list(islice(batches_of(title, TOKENS // 4)[0](), 10))
        other = copy.deepcopy(model).to(device)
        try:
            (loss, own), (loss2, found) = after_training(model, title, batches), after_training(other, title, batches)
            difference = float((own.exp() - found.exp()).abs().max())
            same = float((own.argmax(1) == found.argmax(1)).double().mean())
            row = f"{loss:.6f} | {loss2:.6f} | {difference:.1e} | {same:.4%}"
        except Exception as error:
            traceback.print_exc()
            row = f"failed: {type(error).__name__} | | |"
        print(f"| {title} | {row} |", flush=True)


def main() -> None:
    parts = ("matrix", "speed", "agreement")
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="auto")
    parser.add_argument("--parts", nargs="*", default=parts, choices=parts)
    parser.add_argument("--size", type=float, default=1.0, help="fraction of the text used to measure speed")
    args = parser.parse_args()
    device = torch.device(find_device(args.device))
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else f"CPU, {torch.get_num_threads()} threads"
    print(f"{name}, PyTorch {torch.__version__}", flush=True)
    kinds = (torch.float32, torch.bfloat16)[:1 + has_bfloat16(str(device))]
    rates = {kind: matrix_rate(device, kind) for kind in kinds}
    runs = {"matrix": partial(print_matrix_rates, device, rates),
            "speed": partial(print_speed, device, rates, args.size), "agreement": partial(print_agreement, device)}
    for part in args.parts:
        begin = time.perf_counter()
        runs[part]()
        print(f"{part}: {time.perf_counter() - begin:.0f} s\n", flush=True)


if __name__ == "__main__":
    main()
