"""N-gram: Gale & Parthasarathy 2017, "Experiments in Character-level Neural Network Models for Punctuation", 2.3.2.

At each step, LSTM layers read the concatenated embeddings of the n tokens around a token:

    x(t) = [e(t − ⌊(n−1)/2⌋) … e(t) … e(t + ⌈(n−1)/2⌉)]
    ŷ(t) = softmax(W LSTM(… LSTM(x(t))) + b)

The model reads ⌈(n−1)/2⌉ tokens past a slot. It can stream, with the same output as for complete texts (see
ContextModel). With words as tokens and n = 3, this is the Word N-gram RNN of section 3.3.1.
"""

from torch import Tensor, nn

from punc.base.errors import check_at_least
from punc.layers.convolution import concatenate_neighbours
from punc.layers.lstm_stack import LSTMStack
from punc.models.base import ContextModel


class Model(ContextModel):
    """N-gram.

    ngram   number of tokens that the model reads at each step
    """

    lookahead = 10

    def __init__(self, vocab: int, labels: int, ngram: int = 20, embedding_dim: int = 15, hidden_dim: int = 200,
                 layers: int = 3, dropout: float = 0.2):
        super().__init__()
        check_at_least(1, ngram=ngram)
        self.ngram = ngram
        self.set_context((ngram - 1) // 2, ngram // 2)
        self.embedding = nn.Embedding(vocab, embedding_dim, sparse=True)
        self.lstms = LSTMStack(ngram * embedding_dim, hidden_dim, layers, dropout)
        self.output = nn.Linear(hidden_dim, labels)

    def features(self, line: Tensor) -> Tensor:
        return concatenate_neighbours(self.embedding(line), self.ngram)  # (B, T, n·E)
