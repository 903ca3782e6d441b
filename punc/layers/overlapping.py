"""Long texts as overlapping windows, for layers that read a limited number of tokens at once.

A window begins `size` − 2 `overlap` tokens after the one before it. A token's output is that of the window in which it
is at least `overlap` tokens from either end, if the text goes on there.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from punc.tokens.vocabulary import END


def in_windows(read: Callable[[Tensor, Tensor | None], Tensor], tokens: Tensor, more: Tensor | None, size: int,
               overlap: int) -> Tensor:
    """The outputs (B, T, D) of `read` for tokens (B, T) and values (B, T, …) of any length.

    read   maps tokens (N, size) and values (N, size, …) or None to outputs (N, size, D)
    """
    rows, length = tokens.shape
    if length <= size:
        return read(tokens, more)
    step = size - 2 * overlap
    count = -(-(length - 2 * overlap) // step)
    starts = (torch.arange(count, device=tokens.device) * step).clamp_max(length - size)  # (W,)
    places = starts.unsqueeze(1) + torch.arange(size, device=tokens.device)  # (W, size)
    windows = tokens[:, places].flatten(0, 1)  # (B W, size)
    used = (windows[:, 0] != END).nonzero().squeeze(1)  # a short row fills few
    values = None if more is None else more[:, places].flatten(0, 1)[used]
    outputs = read(windows[used], values)
    slots = torch.arange(length, device=tokens.device)
    owner = ((slots - overlap).div(step, rounding_mode="floor")).clamp(0, count - 1)  # (T,)
    index = torch.full((rows * count,), 0, device=tokens.device)
    index[used] = torch.arange(len(used), device=tokens.device)
    row = index.view(rows, count)[:, owner]  # (B, T)
    return outputs[row, (slots - starts[owner]).expand(rows, -1)]
