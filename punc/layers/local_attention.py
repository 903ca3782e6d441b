"""Local attention over the states around each step: Chen et al., "Investigating context influence in character Level
LSTM methods for Japanese Auto Punctuation", section 2.3.

    s(t) = Σ_i a(h(t), h(i)) h(i)                i = t − (l − 1)/2 … t + (l − 1)/2     (13)
    e(h(t), h(i)) = vᵀ tanh(Wᵀ h(t) + Uᵀ h(i))                                         (14)
    a(h(t), h(i)) = e(h(t), h(i)) / Σ_k e(h(t), h(k))                                  (15)

The text calls the weights a softmax; equation (15) divides by the sum of the scores themselves. Both are here. What is
outside the text is left out. Time and memory grow with T · l.
"""

import torch
from torch import Tensor, nn

from punc.base.errors import InputError

NORMALIZATIONS = ("softmax", "sum")
BLOCK = 64  # steps: for 5 states as quick as one state after the other, for 31 five times as quick (measured)
LEAST = 1e-3  # a sum of scores that is nearer to 0 counts as this far from it: scores have either sign


class LocalAttention(nn.Module):
    """The weighted average of the `window` states around each step.

    state_dim   numbers of a state
    hidden_dim  rows of v
    window      odd; 1: each state itself
    normalize   softmax, or sum: equation (15) as it is written

    Raises InputError for a window that is even, and for another word.
    """

    def __init__(self, state_dim: int, hidden_dim: int, window: int, normalize: str = "softmax"):
        super().__init__()
        if window < 1 or window % 2 == 0:
            raise InputError(f"--attention-window={window}", "it is an odd number: as many steps before as after")
        if normalize not in NORMALIZATIONS:
            raise InputError(f"--normalize={normalize}", f"choose from {', '.join(NORMALIZATIONS)}")
        self.reach, self.normalize = window // 2, normalize
        self.own = nn.Linear(state_dim, hidden_dim, bias=False)  # W
        self.other = nn.Linear(state_dim, hidden_dim, bias=False)  # U
        self.score = nn.Parameter(torch.empty(hidden_dim).uniform_(-1, 1) / hidden_dim ** 0.5)  # v

    def forward(self, states: Tensor, lengths: Tensor) -> Tensor:
        """(B, T, D), lengths (B,) of the texts → (B, T, D). Past a text's end a step sees nothing but itself."""
        return averages(self.weights(states, lengths), states)

    def weights(self, states: Tensor, lengths: Tensor) -> Tensor:
        """The weight of each state around each step, (B, T, l); 0 outside the text."""
        steps, reach = states.shape[1], self.reach
        # tanh(a) is computed as 2σ(2a) − 1, as in punc.layers.lstm: PyTorch's σ is quicker than its tanh.
        own = 2 * self.own(states)
        other = nn.functional.pad(2 * self.other(states), (0, 0, reach, reach))  # (B, T + l − 1, A)
        scores = torch.stack([torch.sigmoid(own + other[:, shift:shift + steps]) @ (2 * self.score)
                              for shift in range(2 * reach + 1)], dim=2) - self.score.sum()
        places = torch.arange(steps, device=states.device).unsqueeze(1)
        places = places + torch.arange(-reach, reach + 1, device=states.device)  # (T, l)
        inside = (places >= 0) & (places < lengths.view(-1, 1, 1))
        inside[:, :, reach] = True
        if self.normalize == "softmax":
            return scores.masked_fill(~inside, -torch.inf).softmax(2)
        scores = scores * inside
        total = scores.sum(2, keepdim=True)
        return scores / torch.where(total < 0, total.clamp(max=-LEAST), total.clamp(min=LEAST))


def averages(weights: Tensor, states: Tensor) -> Tensor:
    """Σ_i weights(t, i) states(t − reach + i) for each step: (B, T, l), (B, T, D) → (B, T, D).

    By blocks of BLOCK steps, each a product of matrices: the weights stand in a band of one with all that a block sees.
    """
    batch, steps, dim = states.shape
    window = weights.shape[2]
    block = min(BLOCK, steps)
    blocks = -(-steps // block)
    rows, seen, missing = batch * blocks, block + window - 1, blocks * block - steps
    around = nn.functional.pad(states, (0, 0, window // 2, missing + window // 2))
    around = around.unfold(1, seen, block).transpose(2, 3).reshape(rows, seen, dim)
    # Rows that are one longer than the matrix's: read with the matrix's length, each begins one further to the right.
    band = nn.functional.pad(weights, (0, seen + 1 - window, 0, missing)).reshape(rows, -1)
    band = band[:, :block * seen].reshape(rows, block, seen)
    return (band @ around).view(batch, -1, dim)[:, :steps]
