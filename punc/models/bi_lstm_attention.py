"""Bi-LSTM-A: Chen, Wu & Su, "Investigating context influence in character Level LSTM methods for Japanese Auto
Punctuation" (Baidu, after 2016), section 2.3.

A bidirectional LSTM layer with local attention. X(t) is the vector of token t, h(t) the state of the LSTM, and s(t) a
weighted average of the l states around token t:

    h(t) = [forward LSTM(X)(t), backward LSTM(X)(t)]                     (9)-(11)
    s(t) = Σ_i a(h(t), h(i)) h(i)       i = t − (l − 1)/2 … t + (l − 1)/2       (13)
    e(h(t), h(i)) = vᵀ tanh(Wᵀ h(t) + Uᵀ h(i))                                  (14)
    a(h(t), h(i)) = e(h(t), h(i)) / Σ_k e(h(t), h(k))                           (15)
    ŷ(t) = softmax(Wᵀ s(t) + b)                                          (3), (16)

The paper's text says that the weights a are a softmax of the scores e, but its equation (15) divides the scores by
their sum. The option `normalize` selects one of the two. The average does not include states outside the text.
"""

import torch
from torch import Tensor, nn

from punc.base.errors import InputError, check_choice
from punc.layers.lstm_stack import BidirectionalStack, with_ends
from punc.models.base import NeuralModel, State

ATTENTION_DIM = 64  # the size of v in equation (14), which the paper does not give
NORMALIZATIONS = ("softmax", "sum")
# The number of steps in a block. `averages` multiplies by a band matrix for each block. Adding up shifted states
# instead would take 5 times as long for a window of 31 states, and no less time for a window of 5.
BLOCK = 64
MIN_SUM = 1e-3  # the minimum absolute value of the sum of scores, which can be near 0 because scores can be negative


class Model(NeuralModel):
    """Bi-LSTM-A.

    embedding_dim     size of a token's vector (not given in the paper)
    hidden_dim        units of the LSTM in each direction (not given in the paper)
    attention_window  number of states that are averaged: l
    normalize         softmax, or sum: equation 15 as written
    dropout           dropout rate between embedding, LSTM and attention (the paper has none)
    """

    def __init__(self, vocab: int, labels: int, embedding_dim: int = 64, hidden_dim: int = 128,
                 attention_window: int = 5, normalize: str = "softmax", dropout: float = 0.0):
        super().__init__()
        self.embedding = nn.Embedding(vocab, embedding_dim, sparse=True)
        self.lstms = BidirectionalStack(embedding_dim, hidden_dim, 1, dropout)
        self.attention = LocalAttention(2 * hidden_dim, ATTENTION_DIM, attention_window, normalize)
        self.output = nn.Linear(2 * hidden_dim, labels)

    def forward(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        line, lengths = with_ends(tokens)  # END has a state, but is not part of the text
        hidden = self.lstms(self.embedding(line), lengths + 1)[:, :-1]  # (B, T, 2H)
        return self.output(self.attention(hidden, lengths)), ()


class LocalAttention(nn.Module):
    """Computes for each step the weighted average of the `attention_window` states around it. Raises InputError if the
    window is even, or `normalize` is not in NORMALIZATIONS."""

    def __init__(self, state_dim: int, attention_dim: int, attention_window: int, normalize: str = "softmax"):
        super().__init__()
        if attention_window < 1 or attention_window % 2 == 0:
            raise InputError(f"attention_window={attention_window}",
                             "give an odd number: as many steps before as after")
        check_choice(NORMALIZATIONS, normalize=normalize)
        self.reach, self.normalize = attention_window // 2, normalize
        self.own = nn.Linear(state_dim, attention_dim, bias=False)  # W
        self.other = nn.Linear(state_dim, attention_dim, bias=False)  # U
        self.score = nn.Parameter(torch.empty(attention_dim).uniform_(-1, 1) / attention_dim ** 0.5)  # v

    def forward(self, states: Tensor, lengths: Tensor) -> Tensor:
        """Map states (B, T, D) of texts with `lengths` (B,) to averages (B, T, D)."""
        return averages(self.weights(states, lengths), states)

    def weights(self, states: Tensor, lengths: Tensor) -> Tensor:
        """Return the attention weights (B, T, l) of the l states around each step. States outside the text get 0."""
        steps, reach = states.shape[1], self.reach
        # tanh(a) is computed as 2σ(2a) − 1, because PyTorch's σ is faster than its tanh.
        own = 2 * self.own(states)
        other = nn.functional.pad(2 * self.other(states), (0, 0, reach, reach))  # (B, T + l − 1, A)
        scores = torch.stack([torch.sigmoid(own + other[:, shift:shift + steps]) @ (2 * self.score)
                              for shift in range(2 * reach + 1)], dim=2) - self.score.sum()
        indices = torch.arange(steps, device=states.device).unsqueeze(1)
        indices = indices + torch.arange(-reach, reach + 1, device=states.device)  # (T, l)
        inside = (indices >= 0) & (indices < lengths.view(-1, 1, 1))
        inside[:, :, reach] = True
        if self.normalize == "softmax":
            return scores.masked_fill(~inside, -torch.inf).softmax(2)
        scores = scores * inside
        total = scores.sum(2, keepdim=True)
        return scores / torch.where(total < 0, total.clamp(max=-MIN_SUM), total.clamp(min=MIN_SUM))


def averages(weights: Tensor, states: Tensor) -> Tensor:
    """Return Σ_i weights(t, i) states(t − (l − 1)/2 + i) for each step t: (B, T, l), (B, T, D) → (B, T, D). For each
    block of BLOCK steps, a band matrix of weights is multiplied by all states that the block needs."""
    batch, steps, dim = states.shape
    window = weights.shape[2]
    if torch.jit.is_tracing():  # an exported graph must not depend on the number of steps
        around = nn.functional.pad(states, (0, 0, window // 2, window // 2))
        parts = [weights[:, :, shift:shift + 1] * around[:, shift:shift + steps] for shift in range(window)]
        return sum(parts[1:], parts[0])
    block = min(BLOCK, steps)
    blocks = -(-steps // block)
    rows, seen, missing = batch * blocks, block + window - 1, blocks * block - steps
    around = nn.functional.pad(states, (0, 0, window // 2, missing + window // 2))
    around = around.unfold(1, seen, block).transpose(2, 3).reshape(rows, seen, dim)
    # Padded rows are one element longer than rows of the band matrix, so reshaping shifts each row by one element more
    # than the row above.
    band = nn.functional.pad(weights, (0, seen + 1 - window, 0, missing)).reshape(rows, -1)
    band = band[:, :block * seen].reshape(rows, block, seen)
    return (band @ around).view(batch, -1, dim)[:, :steps]
