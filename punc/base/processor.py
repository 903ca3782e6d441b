"""The device of a model: GPUs that PyTorch sees, bfloat16, and whether freed memory is kept.

PyTorch is imported only when it is needed.
"""

import ctypes
import re
from functools import cache

from punc.base.errors import InputError

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # parameters of mallopt, malloc.h
MAX_INT = 2**31 - 1  # mallopt takes an int


def check_device(name: str) -> None:
    """Raise InputError unless the name is auto, cpu, cuda or cuda:N. Whether the GPU exists is not checked."""
    if not re.fullmatch(r"auto|cpu|cuda(:\d+)?", name, re.ASCII):
        raise InputError(f"--device={name}", "choose auto, cpu, cuda, or one of several GPUs: cuda:0, cuda:1, …")


def find_device(name: str) -> str:
    """The device of this name, as PyTorch calls it: cpu, cuda or cuda:N; auto is the GPU if there is one, else the CPU.

    On a GPU, cuDNN no longer rounds float32 to the 10 bits of TF32. Raises InputError if PyTorch sees no such GPU.
    """
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
    """Whether the version of PyTorch says that it is a build without GPUs. Importing PyTorch would take a second."""
    import importlib.metadata  # with a packed model, this is 5 % of the time to the first word
    return importlib.metadata.version("torch").endswith("+cpu")


@cache
def has_bfloat16(device: str = "cpu") -> bool:
    """Whether PyTorch's layers run in bfloat16 on a device without emulation; on x86 only a trial shows this."""
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
    """Let malloc keep freed blocks, which saves a fifth of training's time. Returns False if the C library cannot."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(MMAP_THRESHOLD, MAX_INT)) and bool(mallopt(TRIM_THRESHOLD, MAX_INT))


def give_back_freed_memory() -> bool:
    """Return freed blocks that malloc keeps to the system. Returns False if the C library cannot."""
    try:
        return bool(ctypes.CDLL(None).malloc_trim(0))
    except (AttributeError, OSError, TypeError):
        return False
