"""Whether this machine computes in bfloat16, numbers of half the size with the range of float32."""

from functools import cache

import torch
from torch import nn


@cache
def has_bfloat16() -> bool:
    """Whether PyTorch's layers run in bfloat16 here. On x86 its LSTM needs AVX-512, and tells nobody but by failing."""
    try:
        with torch.autocast("cpu", torch.bfloat16), torch.inference_mode():
            nn.LSTM(1, 1)(torch.zeros(1, 1, 1))
    except RuntimeError:
        return False
    return True
