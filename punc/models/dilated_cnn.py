"""Dilated CNN: Gale & Parthasarathy 2017, "Experiments in Character-level Neural Network Models for Punctuation" 2.3.5.

Dilated convolutions: each layer sees twice as many tokens as the layer below. e(t) is the embedding of token t:

    x_0 = e;  x_l = highway(residual_l(x_(l−1)))      dilations 1, 2, 4, 8, 16: five layers see 32 tokens
    ŷ(t) = softmax(W LSTM(LSTM(x_5(t))) + b)

residual_l is a two-tap convolution with a gated residual connection:

    y(t) = x(t) + tanh(W x' + a) · σ(V x' + b),    x' = [x(t − ⌊d/2⌋), x(t + ⌈d/2⌉)]

The paper does not define the gate. Here it is the gated unit of van den Oord et al. 2016 ("WaveNet", equation 2), which
the paper cites. The gated output is added to the layer's input or, if the sizes differ, to a linear projection of the
input (He et al. 2015, equations 1 and 2).

n layers with d = 1, 2, 4, … see the tokens t − ⌊(2ⁿ − 1)/2⌋ … t + ⌈(2ⁿ − 1)/2⌉, so five layers see the 15 tokens before
token t and the 16 tokens after it. Outside the text, the first layer reads <NULL>, here END, and each higher layer
reads what the layer below computes there. The model can stream, with the same output as for complete texts (see
ContextModel).
"""

import torch
from torch import Tensor, nn

from punc.base.errors import check_at_least
from punc.layers.convolution import Highway
from punc.layers.lstm_stack import Dropout, LSTMStack
from punc.models.base import ContextModel

EMBEDDING_DROPOUT, CNN_DROPOUT = 0.1, 0.2  # dropout rates after the embedding and between convolutions


class GatedResidual(nn.Module):
    """A gated residual layer of `size` filters with two taps, which are `dilation` steps apart. The input is not
    padded, so the output has `dilation` fewer steps. `both` holds W and V."""

    def __init__(self, input_dim: int, size: int, dilation: int):
        super().__init__()
        self.dilation = dilation
        self.both = nn.Linear(2 * input_dim, 2 * size)
        self.project = nn.Identity() if input_dim == size else nn.Linear(input_dim, size, bias=False)

    def forward(self, inputs: Tensor) -> Tensor:
        """Map (B, T + d, input_dim) to (B, T, size)."""
        steps, here = inputs.shape[1] - self.dilation, self.dilation // 2
        taps = torch.cat([inputs[:, :steps], inputs[:, self.dilation:]], dim=2)
        candidate, gate = self.both(taps).chunk(2, dim=2)
        return torch.addcmul(self.project(inputs[:, here:here + steps]), candidate.tanh(), gate.sigmoid())


class Model(ContextModel):
    """Dilated CNN.

    dilated_layers   number of convolutions; n convolutions see 2 to the power of n tokens
    filters          number of filters of each convolution
    """

    lookahead = 16

    def __init__(self, vocab: int, labels: int, embedding_dim: int = 15, dilated_layers: int = 5, filters: int = 32,
                 hidden_dim: int = 128, layers: int = 2, dropout: float = 0.4):
        super().__init__()
        check_at_least(1, dilated_layers=dilated_layers, filters=filters)
        self.set_context((2 ** dilated_layers - 1) // 2, 2 ** dilated_layers // 2)
        self.embedding = nn.Embedding(vocab, embedding_dim, sparse=True)
        self.convolutions = nn.Sequential(Dropout(EMBEDDING_DROPOUT))
        for number in range(dilated_layers):
            if number:
                self.convolutions.append(Dropout(CNN_DROPOUT))
            self.convolutions.append(GatedResidual(filters if number else embedding_dim, filters, 2 ** number))
            self.convolutions.append(Highway(filters))
        self.lstms = LSTMStack(filters, hidden_dim, layers, dropout)
        self.output = nn.Linear(hidden_dim, labels)

    def features(self, line: Tensor) -> Tensor:
        return self.convolutions(self.embedding(line))  # (B, T, filters)
