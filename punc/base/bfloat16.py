"""Whether this machine computes in bfloat16: numbers of half the size of float32, with its range."""

from functools import cache

import torch
from torch import nn


@cache
def has_bfloat16() -> bool:
    """Whether PyTorch's layers run in bfloat16 here. On x86 its LSTM needs AVX-512; only a trial shows that."""
    try:
        with torch.autocast("cpu", torch.bfloat16), torch.inference_mode():
            nn.LSTM(1, 1)(torch.zeros(1, 1, 1))
    except RuntimeError:
        return False
    return True
