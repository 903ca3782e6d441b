"""Makes float32 matrix products faster on AMD processors with AVX-512. There, oneDNN computes large products up to
twice as fast as MKL, because MKL does not use AVX-512 on AMD processors (docs/speed.md). The results differ only by
rounding."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

CPUINFO = Path("/proc/cpuinfo")
# The minimum number of scalar multiplications in a product that oneDNN computes. For smaller products, copying the
# matrices takes more time than oneDNN saves.
LEAST = 1 << 23


def fast_products(device: torch.device) -> AbstractContextManager:
    """Return a context in which linear layers on a CPU use oneDNN if that is faster. Training is not affected."""
    return _ByOneDNN() if device.type == "cpu" and _is_faster() else contextlib.nullcontext()


@cache
def _is_faster() -> bool:
    both = torch.backends.mkl.is_available() and torch.backends.mkldnn.is_available()
    try:
        is_amd = "AuthenticAMD" in CPUINFO.read_text(encoding="utf-8")
    except OSError:
        return False
    return both and is_amd and torch.backends.cpu.get_cpu_capability() == "AVX512"


class _ByOneDNN(TorchFunctionMode):
    """Lets oneDNN compute large products in `nn.functional.linear`, which all linear layers call."""

    def __torch_function__(self, function: Callable, types: Sequence[type], args: tuple = (),
                           kwargs: Mapping[str, Any] | None = None) -> Any:
        if function is torch.nn.functional.linear and not kwargs and _fits(*args[:2]):
            return function(args[0].to_mkldnn(), *args[1:]).to_dense()
        return function(*args, **(kwargs or {}))


def _fits(inputs: torch.Tensor, weight: torch.Tensor) -> bool:
    dense_float32 = all(part.device.type == "cpu" and part.dtype == torch.float32 and part.layout == torch.strided
                        for part in (inputs, weight))
    return (dense_float32 and not torch.is_grad_enabled() and not torch.is_autocast_enabled("cpu")
            and inputs.numel() * len(weight) >= LEAST)
