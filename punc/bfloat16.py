"""Whether this machine computes in bfloat16, numbers of half the size with the range of float32."""

from functools import cache

import torch
from torch import nn


@cache
def has_bfloat16() -> bool:
    """Whether PyTorch's layers run in bfloat16 here: for an LSTM oneDNN needs AVX-512 on x86, and says so in no other way."""
    try:
        with torch.autocast("cpu", torch.bfloat16), torch.inference_mode():
            nn.LSTM(1, 1)(torch.zeros(1, 1, 1))
    except RuntimeError:
        return False
    return True
