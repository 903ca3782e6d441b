"""Delay: Gale & Parthasarathy 2017, "Experiments in Character-level Neural Network Models for Punctuation", 2.3.1.

Layers of LSTM that decide a slot n tokens after it; e(t) is the embedding of token t:

    ŷ(t) = softmax(W LSTM(… LSTM(e(t + n))) + b)

The paper pads a text with one <EOT> and n − 1 <PAD> tokens. Here all of them are END, and so is the last token of a
text of characters. With words as tokens and a delay of 1, this is the Word Delay-RNN of section 3.3.1.
"""

from torch import Tensor, nn

from punc.base.errors import check_at_least
from punc.layers.lstm_stack import LSTMStack
from punc.models.base import EmbeddingStepper, LSTMModel, State


class Model(LSTMModel):
    """Delay.

    delay   how many tokens past a slot the model reads
    """

    lookahead = 8

    def __init__(self, vocab: int, labels: int, delay: int = 8, embedding_dim: int = 15, hidden_dim: int = 200,
                 layers: int = 3, dropout: float = 0.2):
        super().__init__()
        check_at_least(0, delay=delay)
        self.lookahead = delay
        self.embedding = nn.Embedding(vocab, embedding_dim, sparse=True)
        self.lstms = LSTMStack(embedding_dim, hidden_dim, layers, dropout)
        self.output = nn.Linear(hidden_dim, labels)

    def forward(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        hidden, state = self.lstms(self.embedding(tokens), state)  # (B, T, H)
        return self.output(hidden), state

    def stepper(self) -> EmbeddingStepper:
        return EmbeddingStepper(self.embedding, self.lstms, self.output)
