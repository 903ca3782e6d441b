"""Long texts as overlapping windows, for layers that read a limited number of tokens at once.

A window begins `size` − 2 `overlap` tokens after the one before it, and the last one ends with the text. A token's
output is that of the window in which it is at least `overlap` tokens from either end, if the text goes on there. So a
text's windows do not depend on the other texts of its batch.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from punc.tokens.vocabulary import END

AT_ONCE = 32  # windows that are read together: memory does not grow with the text, and more are not faster


def in_windows(read: Callable[[Tensor, Tensor | None], Tensor], tokens: Tensor, more: Tensor | None, size: int,
               overlap: int) -> Tensor:
    """The outputs (B, T, D) of `read` for tokens (B, T) and values (B, T, …) of any length.

    read   maps tokens (N, size) and values (N, size, …) or None to outputs (N, size, D)
    """
    rows, width = tokens.shape
    if width <= size:
        return read(tokens, more)
    step = size - 2 * overlap
    lengths = (tokens != END).sum(1, keepdim=True)  # (B, 1)
    counts = (lengths - 2 * overlap + step - 1).div(step, rounding_mode="floor").clamp_min(1)  # (B, 1), windows
    number = torch.arange(int(counts.max()), device=tokens.device).unsqueeze(0)  # (1, W)
    starts = torch.minimum(number * step, (lengths - size).clamp_min(0))  # (B, W)
    used = number < counts
    row = torch.arange(rows, device=tokens.device).unsqueeze(1).expand_as(used)[used]  # (N,)
    places = starts[used].unsqueeze(1) + torch.arange(size, device=tokens.device)  # (N, size)
    outputs = torch.cat([read(tokens[some, at], None if more is None else more[some, at]) for some, at in
                         zip(row.unsqueeze(1).split(AT_ONCE), places.split(AT_ONCE))])  # (N, size, D)
    slots = torch.arange(width, device=tokens.device).unsqueeze(0)  # (1, T)
    owner = (slots - overlap).div(step, rounding_mode="floor").clamp_min(0).minimum(counts - 1)  # (B, T)
    first = (counts.cumsum(0) - counts)  # (B, 1), the row's first window
    return outputs[first + owner, (slots - starts.gather(1, owner)).clamp_max(size - 1)]
