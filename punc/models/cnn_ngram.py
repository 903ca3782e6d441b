"""CNN-Ngram: Gale & Parthasarathy 2017, "Experiments in Character-level Neural Network Models for Punctuation", 2.3.4.

As CNN-Feature (punc.models.cnn_feature), with temporal max-pooling of width n after the convolution:

    f(t) = tanh(K * e)(t)
    m(t) = max(f(t − ⌊(n−1)/2⌋) … f(t + ⌈(n−1)/2⌉))
    ŷ(t) = softmax(W LSTM(LSTM(highway(m(t)))) + b)

The pooling takes what is beside for what is outside the text (see punc.layers.neighbours), the convolution <NULL>.
The model reads 3 + ⌈(n−1)/2⌉ tokens past a slot and can stream: the function is the same as on whole texts, for where a
text ends is told by its tokens alone (see punc.layers.context).
"""

from torch import Tensor, nn

from punc.base.errors import InputError
from punc.layers.context import ContextModel
from punc.layers.dropout import dropout as dropout_layer
from punc.layers.filters import Filters
from punc.layers.highway import Highway
from punc.layers.lstm_stack import LSTMStack
from punc.layers.neighbours import max_over_neighbours, outside
from punc.models.base import NeuralModel


class Model(ContextModel, NeuralModel):
    """CNN-Ngram.

    embedding_dim       numbers of a token's vector
    widths              kernels are 1 to this many tokens wide
    filters             times w: kernels of width w
    max_filters         kernels of one width, at most
    pool                steps over which the largest is taken
    hidden_dim          units of each LSTM layer
    layers              LSTM layers
    embedding_dropout   part left out in training between embedding and convolution
    dropout             part left out in training between convolution, LSTM layers and softmax
    """

    lookahead = 5

    def __init__(self, vocab: int, labels: int, embedding_dim: int = 15, widths: int = 7,
                 filters: int = 75, max_filters: int = 300, pool: int = 4, hidden_dim: int = 100, layers: int = 2,
                 embedding_dropout: float = 0.1, dropout: float = 0.4):
        super().__init__()
        if pool < 1:
            raise InputError(f"--pool={pool}", "it is 1 or more")
        self.pool = pool
        self.embedding = nn.Embedding(vocab, embedding_dim, sparse=True)
        self.embedding_dropout = dropout_layer(embedding_dropout, "embedding_dropout")
        self.filters = Filters(embedding_dim, widths, filters, max_filters)
        # Whether a step is outside the text is seen by the token before it, so one before the first one is kept.
        self.first = max(1, self.filters.before)
        self.read_context(self.first + (pool - 1) // 2, self.filters.ahead + pool // 2)
        self.highway = Highway(self.filters.size)
        self.lstms = LSTMStack(self.filters.size, hidden_dim, layers, dropout)
        self.output = nn.Linear(hidden_dim, labels)

    def features(self, line: Tensor) -> Tensor:
        vectors = self.embedding_dropout(self.embedding(line[:, self.first - self.filters.before:]))
        convolved = self.filters(vectors)  # (B, T + pool − 1, kernels), the first one of step `first` of the line
        beyond = outside(line[:, self.first - 1:self.first + convolved.shape[1]]).unsqueeze(2)
        convolved = convolved.masked_fill(beyond, -1.0)  # the least that tanh can be
        return self.highway(max_over_neighbours(convolved, self.pool))  # (B, T, kernels)
