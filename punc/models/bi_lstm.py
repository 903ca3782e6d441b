"""Bi-LSTM: Gale & Parthasarathy 2017, "Experiments in Character-level Neural Network Models for Punctuation", 2.3.6.

Bidirectional LSTM layers (Graves & Schmidhuber 2005), where e(t) is the embedding of token t:

    y_0 = e;  y_l(t) = [forward LSTM(y_(l−1))(t), backward LSTM(y_(l−1))(t)]
    ŷ(t) = softmax(W y_3(t) + b)

The model reads complete texts. The backward LSTMs start at the END token of each text.

With `pauses` (not in the paper), one vector for the pause p(t) in the slot after token t is added to e(t), and another
vector is added to the logits:

    y_0(t) = e(t) + a(p(t));  ŷ(t) = softmax(W y_3(t) + b + c(p(t)))

a and c are lookup tables with one vector for each class of durations and one for unknown pauses (layers.pauses).
"""

import torch
from torch import Tensor, nn

from punc.layers.lstm_stack import BidirectionalStack, embedding_of, with_ends
from punc.layers.pauses import PauseVectors
from punc.models.base import NeuralModel, State


class Model(NeuralModel):
    """Bi-LSTM.

    embedding_dim   size of a token's vector
    embedding_std   standard deviation of the initial vectors; if it is small, a rare word has little effect until its
                    vector is learned
    hidden_dim      units of each LSTM layer in each direction
    layers          number of LSTM layers
    dropout         dropout rate before, between and after the LSTM layers
    pauses          read the pauses (not in the paper)
    """

    def __init__(self, vocab: int, labels: int, embedding_dim: int = 15, embedding_std: float = 1.0,
                 hidden_dim: int = 200, layers: int = 3, dropout: float = 0.2, pauses: bool = False):
        super().__init__()
        self.embedding = embedding_of(vocab, embedding_dim, embedding_std)
        self.lstms = BidirectionalStack(embedding_dim, hidden_dim, layers, dropout)
        self.output = nn.Linear(2 * hidden_dim, labels)
        self.pause_input = PauseVectors(embedding_dim) if pauses else None
        self.pause_output = PauseVectors(labels) if pauses else None

    def forward(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        line, lengths = with_ends(tokens)
        inputs = self.embedding(line)  # (B, T + 1, E)
        if self.pause_input:
            padded = None if pauses is None else nn.functional.pad(pauses, (0, 1), value=torch.nan)
            inputs = inputs + self.pause_input(padded, line)
        logits = self.output(self.lstms(inputs, lengths + 1)[:, :-1])  # (B, T, L)
        return (logits + self.pause_output(pauses, tokens) if self.pause_output else logits), ()
