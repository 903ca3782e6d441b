"""Dilated CNN: Gale & Parthasarathy 2017, "Experiments in Character-level Neural Network Models for Punctuation" 2.3.5.

Layers of dilated convolutions, each of which sees twice as many tokens as the layer below; e(t) is the embedding:

    x_0 = e;  x_l = highway(residual_l(x_(l−1)))      dilations 1, 2, 4, 8, 16: five layers see 32 tokens
    ŷ(t) = softmax(W LSTM(LSTM(x_5(t))) + b)

The convolutions with their gated residual connections are those of layers.gated_residual. Outside the text there is
<NULL>, here END, and what the convolutions make of it. So the model sees 15 tokens before a slot's own, reads 16 past
the slot, and can stream: the function is the same as on whole texts (see ContextModel).
"""

from torch import Tensor, nn

from punc.base.errors import check_at_least
from punc.layers.dropout import dropout as dropout_layer
from punc.layers.gated_residual import GatedResidual
from punc.layers.highway import Highway
from punc.layers.lstm_stack import LSTMStack
from punc.models.base import ContextModel


class Model(ContextModel):
    """Dilated CNN.

    dilated_layers      convolutions; n of them see 2 to the power of n tokens
    filters             filters of each convolution
    cnn_dropout         dropout rate between convolutions
    """

    lookahead = 16

    def __init__(self, vocab: int, labels: int, embedding_dim: int = 15, dilated_layers: int = 5,
                 filters: int = 32, hidden_dim: int = 128, layers: int = 2, embedding_dropout: float = 0.1,
                 cnn_dropout: float = 0.2, dropout: float = 0.4):
        super().__init__()
        check_at_least(1, dilated_layers=dilated_layers, filters=filters)
        self.set_context((2 ** dilated_layers - 1) // 2, 2 ** dilated_layers // 2)
        self.embedding = nn.Embedding(vocab, embedding_dim, sparse=True)
        self.convolutions = nn.Sequential(dropout_layer(embedding_dropout, "embedding_dropout"))
        for number in range(dilated_layers):
            if number:
                self.convolutions.append(dropout_layer(cnn_dropout, "cnn_dropout"))
            self.convolutions.append(GatedResidual(filters if number else embedding_dim, filters, 2 ** number))
            self.convolutions.append(Highway(filters))
        self.lstms = LSTMStack(filters, hidden_dim, layers, dropout)
        self.output = nn.Linear(hidden_dim, labels)

    def features(self, line: Tensor) -> Tensor:
        return self.convolutions(self.embedding(line))  # (B, T, filters)
