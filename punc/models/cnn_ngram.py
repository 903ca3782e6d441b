"""CNN-Ngram: Gale & Parthasarathy 2017, "Experiments in Character-level Neural Network Models for Punctuation", 2.3.4.

The model `cnn_feature` with temporal max-pooling of width n after the convolution:

    f(t) = tanh(F * e)(t)
    m(t) = max(f(t − ⌊(n−1)/2⌋) … f(t + ⌈(n−1)/2⌉))
    ŷ(t) = softmax(W LSTM(LSTM(highway(m(t)))) + b)

Outside the text, the convolution reads <NULL>, here END, and the pooling takes the nearest step (see
layers.convolution). The model reads 3 + ⌈(n−1)/2⌉ tokens past a slot and can stream: the function is the same as on
whole texts, as the tokens alone tell where a text ends (see ContextModel).
"""

from torch import Tensor, nn

from punc.base.errors import check_at_least
from punc.layers.convolution import Filters, Highway, max_over_neighbours, outside
from punc.layers.dropout import dropout as dropout_layer
from punc.layers.lstm_stack import LSTMStack
from punc.models.base import ContextModel


class Model(ContextModel):
    """CNN-Ngram.

    widths        filters have widths of 1 to this many tokens
    filters       there are w times this many filters of width w
    max_filters   and at most this many of one width
    pool          steps of the max-pooling: n
    """

    lookahead = 5

    def __init__(self, vocab: int, labels: int, embedding_dim: int = 15, widths: int = 7,
                 filters: int = 75, max_filters: int = 300, pool: int = 4, hidden_dim: int = 100, layers: int = 2,
                 embedding_dropout: float = 0.1, dropout: float = 0.4):
        super().__init__()
        check_at_least(1, pool=pool)
        self.pool = pool
        self.embedding = nn.Embedding(vocab, embedding_dim, sparse=True)
        self.embedding_dropout = dropout_layer(embedding_dropout, "embedding_dropout")
        self.filters = Filters(embedding_dim, widths, filters, max_filters)
        # The token before a step tells whether the step is outside the text, so at least one token is kept.
        self.first = max(1, self.filters.before)
        self.set_context(self.first + (pool - 1) // 2, self.filters.ahead + pool // 2)
        self.highway = Highway(self.filters.size)
        self.lstms = LSTMStack(self.filters.size, hidden_dim, layers, dropout)
        self.output = nn.Linear(hidden_dim, labels)

    def features(self, line: Tensor) -> Tensor:
        vectors = self.embedding_dropout(self.embedding(line[:, self.first - self.filters.before:]))
        convolved = self.filters(vectors)  # (B, T + n − 1, filters), from step `first` of the line on
        is_outside = outside(line[:, self.first - 1:self.first + convolved.shape[1]]).unsqueeze(2)
        convolved = convolved.masked_fill(is_outside, -1.0)  # the lower bound of tanh
        return self.highway(max_over_neighbours(convolved, self.pool))  # (B, T, filters)
