"""Finds the device for a model, tests devices for bfloat16 support, and controls whether malloc keeps freed memory."""

import ctypes
import re
from functools import cache

from punc.base.errors import InputError

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # parameters of mallopt, from malloc.h
MAX_INT = 2**31 - 1  # the largest value that mallopt accepts


def check_device(name: str) -> None:
    """Raise InputError unless `name` is auto, cpu, cuda or cuda:N. Does not check whether the GPU exists."""
    if not re.fullmatch(r"auto|cpu|cuda(:\d+)?", name, re.ASCII):
        raise InputError(f"--device={name}", "choose auto, cpu, cuda, or one of several GPUs: cuda:0, cuda:1, …")


def find_device(name: str) -> str:
    """Return PyTorch's name of a device: cpu, cuda or cuda:N. `auto` chooses the GPU if there is one, otherwise the
    CPU. Stops cuDNN from rounding float32 to TF32 (a 10-bit mantissa) on a GPU. Raises InputError if the GPU does not
    exist."""
    check_device(name)
    if name == "cpu" or (name == "auto" and built_for_cpu()):
        return "cpu"
    import torch
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if name == "auto":
        name = "cuda" if gpus else "cpu"
    elif not gpus:
        raise InputError(f"--device {name}: PyTorch sees no GPU",
                         "use --device cpu, or install a CUDA build (docs/install.md)")
    elif int(name.partition(":")[2] or 0) >= gpus:
        raise InputError(f"--device {name}: PyTorch sees {gpus} GPU{'s' * (gpus > 1)}",
                         f"choose from {', '.join(f'cuda:{number}' for number in range(gpus))}")
    if name != "cpu":
        torch.backends.cudnn.allow_tf32 = False
    return name


def built_for_cpu() -> bool:
    """Return whether PyTorch's version string names a CPU build. Does not import PyTorch, which would take a second."""
    import importlib.metadata  # imported here, so that packed models, which do not need it, start 5 % faster
    return importlib.metadata.version("torch").endswith("+cpu")


@cache
def has_bfloat16(device: str = "cpu") -> bool:
    """Return whether a device runs PyTorch's layers in bfloat16 without emulation. On a CPU, tries a small LSTM."""
    import torch
    if device != "cpu":
        with torch.cuda.device(device):
            return torch.cuda.is_bf16_supported(including_emulation=False)
    try:
        with torch.autocast("cpu", torch.bfloat16), torch.inference_mode():
            torch.nn.LSTM(1, 1)(torch.zeros(1, 1, 1))
    except RuntimeError:
        return False
    return True


def keep_freed_memory() -> bool:
    """Let malloc keep freed memory, which cuts training time by a fifth. Returns False if libc cannot do it."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(MMAP_THRESHOLD, MAX_INT)) and bool(mallopt(TRIM_THRESHOLD, MAX_INT))


def give_back_freed_memory() -> bool:
    """Make malloc return freed memory to the system. Returns whether it returned any."""
    try:
        return bool(ctypes.CDLL(None).malloc_trim(0))
    except (AttributeError, OSError, TypeError):
        return False
