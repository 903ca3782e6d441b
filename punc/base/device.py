"""Where a model computes: on the CPU, or on a GPU that PyTorch sees. PyTorch is imported only where a GPU may be."""

import re

from punc.base.errors import InputError


def check_device(name: str) -> None:
    """Raise InputError unless the name is auto, cpu, cuda or cuda:N. Whether the GPU exists is not checked."""
    if not re.fullmatch(r"auto|cpu|cuda(:\d+)?", name, re.ASCII):
        raise InputError(f"--device={name}", "choose auto, cpu, cuda, or one of several GPUs: cuda:0, cuda:1, …")


def find_device(name: str) -> str:
    """The device of this name, as PyTorch calls it: cpu, cuda or cuda:N; auto is the GPU if there is one, else the CPU.

    On a GPU, float32 is then float32: cuDNN no longer rounds it to the 10 bits of TF32, so that a model gives the same
    posteriors as on the CPU.

    Raises InputError if PyTorch sees no such GPU.
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
    """Whether the version of PyTorch says that it is a build without GPUs. To import PyTorch takes a second."""
    import importlib.metadata  # for a packed model this would be 5 % of the time to the first word
    return importlib.metadata.version("torch").endswith("+cpu")
