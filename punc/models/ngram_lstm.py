"""N-gram: Gale & Parthasarathy 2017, "Experiments in Character-level Neural Network Models for Punctuation", 2.3.2.

The embeddings of the n tokens around each token, end to end, through layers of LSTM:

    x(t) = [e(t − ⌊(n−1)/2⌋) … e(t) … e(t + ⌈(n−1)/2⌉)]
    ŷ(t) = softmax(W LSTM(… LSTM(x(t))) + b)

So it reads ⌈(n−1)/2⌉ tokens past a slot and can stream, where the paper has whole texts: the function is the same, as
the LSTMs wait for the text's first token (see punc.layers.context). With words as tokens and n = 3 it is the Word
N-gram RNN of section 3.3.1.
"""

from torch import Tensor, nn

from punc.base.errors import InputError
from punc.layers.context import ContextModel, end_to_end
from punc.layers.lstm_stack import LSTMStack
from punc.models.base import NeuralModel


class Model(ContextModel, NeuralModel):
    """N-gram.

    ngram           tokens that are read at each step
    embedding_dim   numbers of a token's vector
    hidden_dim      units of each LSTM layer
    layers          LSTM layers
    dropout         part left out in training between embedding, LSTM layers and softmax
    """

    lookahead = 10

    def __init__(self, vocab: int, labels: int, ngram: int = 20, embedding_dim: int = 15,
                 hidden_dim: int = 200, layers: int = 3, dropout: float = 0.2):
        super().__init__()
        if ngram < 1:
            raise InputError(f"--ngram={ngram}", "it is 1 or more")
        self.ngram = ngram
        self.read_context((ngram - 1) // 2, ngram // 2)
        self.embedding = nn.Embedding(vocab, embedding_dim, sparse=True)
        self.lstms = LSTMStack(ngram * embedding_dim, hidden_dim, layers, dropout)
        self.output = nn.Linear(hidden_dim, labels)

    def features(self, line: Tensor) -> Tensor:
        return end_to_end(self.embedding(line), self.ngram)  # (B, T, n·E)
