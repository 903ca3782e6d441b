"""CNN-Feature: Gale & Parthasarathy 2017, "Experiments in Character-level Neural Network Models for Punctuation" 2.3.3.

A convolution with filters of widths 1 to 7, a highway layer, and LSTM layers. e(t) is the embedding of token t:

    f(t) = tanh(F * e)(t)          1,650 filters (layers.convolution)
    z(t) = highway(f(t))
    ŷ(t) = softmax(W LSTM(LSTM(z(t))) + b)

A filter of width w reads the tokens t − ⌊(w−1)/2⌋ … t + ⌈(w−1)/2⌉, so the model reads 3 tokens past a slot.
"""

from torch import Tensor, nn

from punc.layers.convolution import Filters, Highway
from punc.layers.lstm_stack import Dropout, LSTMStack
from punc.models.base import ContextModel

WIDTHS = 7  # the largest width of a filter, in tokens
EMBEDDING_DROPOUT = 0.1


class Model(ContextModel):
    """CNN-Feature.

    filters   number of filters of width 1; there are min(w, 4) times as many of width w
    """

    lookahead = 3

    def __init__(self, vocab: int, labels: int, embedding_dim: int = 15, filters: int = 75, hidden_dim: int = 100,
                 layers: int = 2, dropout: float = 0.4):
        super().__init__()
        self.embedding = nn.Embedding(vocab, embedding_dim, sparse=True)
        self.embedding_dropout = Dropout(EMBEDDING_DROPOUT)
        self.filters = Filters(embedding_dim, WIDTHS, filters)
        self.set_context(self.filters.before, self.filters.ahead)
        self.highway = Highway(self.filters.size)
        self.lstms = LSTMStack(self.filters.size, hidden_dim, layers, dropout)
        self.output = nn.Linear(hidden_dim, labels)

    def features(self, line: Tensor) -> Tensor:
        return self.highway(self.filters(self.embedding_dropout(self.embedding(line))))  # (B, T, filters)
