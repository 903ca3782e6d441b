"""Bi-LSTM-A: Chen, Wu & Su, "Investigating context influence in character Level LSTM methods for Japanese Auto
Punctuation" (Baidu, after 2016), section 2.3.

A layer of LSTM in both directions, and for each token the weighted average of the states around it:

    h(t) = [forward LSTM(X)(t), backward LSTM(X)(t)]                     (9)-(11)
    s(t) = Σ_i a(h(t), h(i)) h(i)                                        (13)-(15), layers.local_attention
    ŷ(t) = softmax(Wᵀ s(t) + b)                                          (3), (16)

The paper's Bi-LSTM, without attention, is the model `bi_lstm` with one layer. The model reads whole texts.
"""

from torch import Tensor, nn

from punc.layers.local_attention import LocalAttention
from punc.layers.lstm_stack import BidirectionalStack, with_ends
from punc.models.base import NeuralModel, State


class Model(NeuralModel):
    """Bi-LSTM-A.

    embedding_dim     size of a token's vector (the paper does not say)
    hidden_dim        units of the LSTM in each direction (the paper does not say)
    attention_dim     size of v in equation 14 (the paper does not say)
    attention_window  states that are averaged: l_a
    normalize         softmax, or sum: equation 15 as it is written
    dropout           dropout rate between embedding, LSTM and attention (the paper has none)
    """

    def __init__(self, vocab: int, labels: int, embedding_dim: int = 64, hidden_dim: int = 128,
                 attention_dim: int = 64, attention_window: int = 5, normalize: str = "softmax", dropout: float = 0.0):
        super().__init__()
        self.embedding = nn.Embedding(vocab, embedding_dim, sparse=True)
        self.lstms = BidirectionalStack(embedding_dim, hidden_dim, 1, dropout)
        self.attention = LocalAttention(2 * hidden_dim, attention_dim, attention_window, normalize)
        self.output = nn.Linear(2 * hidden_dim, labels)

    def forward(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        line, lengths = with_ends(tokens)  # END has a state, but is not part of the text
        hidden = self.lstms(self.embedding(line), lengths + 1)[:, :-1]  # (B, T, 2H)
        return self.output(self.attention(hidden, lengths)), ()

    def traceable(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        line, lengths = with_ends(tokens)
        hidden = self.lstms(self.embedding(line), lengths + 1)[:, :-1]
        weights, reach = self.attention.weights(hidden, lengths), self.attention.reach
        around = nn.functional.pad(hidden, (0, 0, reach, reach))
        parts = [weights[:, :, shift:shift + 1] * around[:, shift:shift + tokens.shape[1]]
                 for shift in range(2 * reach + 1)]  # as `averages`, state after state
        return self.output(sum(parts[1:], parts[0])), ()
