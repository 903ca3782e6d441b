"""Whether a device computes in bfloat16: numbers of half the size of float32, with its range."""

from functools import cache

import torch
from torch import nn


@cache
def has_bfloat16(device: str = "cpu") -> bool:
    """Whether PyTorch's layers run in bfloat16 on a device: cpu, cuda or cuda:N.

    On x86 its LSTM needs AVX-512; only a trial shows that. A GPU that only emulates bfloat16 counts as without.
    """
    if device != "cpu":
        with torch.cuda.device(device):
            return torch.cuda.is_bf16_supported(including_emulation=False)
    try:
        with torch.autocast("cpu", torch.bfloat16), torch.inference_mode():
            nn.LSTM(1, 1)(torch.zeros(1, 1, 1))
    except RuntimeError:
        return False
    return True
