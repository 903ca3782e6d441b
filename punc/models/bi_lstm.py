"""Bi-LSTM: Gale & Parthasarathy 2017, "Experiments in Character-level Neural Network Models for Punctuation", 2.3.6.

Layers of LSTM in both directions (Graves & Schmidhuber 2005); e(t) is the embedding of token t:

    y_0 = e;  y_l(t) = [forward LSTM(y_(l−1))(t), backward LSTM(y_(l−1))(t)]
    ŷ(t) = softmax(W y_3(t) + b)

The model reads whole texts. The backward direction starts with the END of each text.
"""

from torch import Tensor, nn

from punc.layers.lstm_stack import BidirectionalStack, with_ends
from punc.models.base import NeuralModel, State


class Model(NeuralModel):
    """Bi-LSTM.

    embedding_dim   size of a token's vector
    hidden_dim      units of each LSTM layer in each direction
    layers          LSTM layers
    dropout         dropout rate before, between and after the LSTM layers
    """

    def __init__(self, vocab: int, labels: int, embedding_dim: int = 15, hidden_dim: int = 200,
                 layers: int = 3, dropout: float = 0.2):
        super().__init__()
        self.embedding = nn.Embedding(vocab, embedding_dim, sparse=True)
        self.lstms = BidirectionalStack(embedding_dim, hidden_dim, layers, dropout)
        self.output = nn.Linear(2 * hidden_dim, labels)

    def forward(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        line, lengths = with_ends(tokens)
        hidden = self.lstms(self.embedding(line), lengths + 1)[:, :-1]  # (B, T, 2H)
        return self.output(hidden), ()
