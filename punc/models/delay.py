"""Delay: Gale & Parthasarathy 2017, "Experiments in Character-level Neural Network Models for Punctuation", 2.3.1.

LSTM layers that label each slot with a delay of n tokens, where e(t) is the embedding of token t:

    ŷ(t) = softmax(W LSTM(… LSTM(e(t + n))) + b)

The paper pads a text with one <EOT> and n − 1 <PAD> tokens. Here, END stands for all of these. With words as tokens and
a delay of 1, this is the Word Delay-RNN of section 3.3.1.

With `pauses` (not in the paper), one vector for the pause p(t) in slot t is added to e(t + n), and another vector is
added to the logits:

    ŷ(t) = softmax(W LSTM(… LSTM(e(t + n) + a(p(t)))) + b + c(p(t)))

a and c are lookup tables with one vector for each class of durations and one for unknown pauses (layers.pauses).
"""

from torch import Tensor, nn

from punc.base.errors import check_at_least
from punc.layers.lstm_stack import LSTMStack, embedding_of
from punc.layers.pauses import PauseVectors
from punc.models.base import LSTMModel, State


class Model(LSTMModel):
    """Delay.

    delay           number of tokens past a slot that the model reads
    embedding_std   standard deviation of the initial vectors; if it is small, a rare word has little effect until its
                    vector is learned
    pauses          read the pauses (not in the paper)
    """

    lookahead = 8

    def __init__(self, vocab: int, labels: int, delay: int = 8, embedding_dim: int = 15, embedding_std: float = 1.0,
                 hidden_dim: int = 200, layers: int = 3, dropout: float = 0.2, pauses: bool = False):
        super().__init__()
        check_at_least(0, delay=delay)
        self.lookahead, self.reads_pauses = delay, pauses
        self.embedding = embedding_of(vocab, embedding_dim, embedding_std)
        self.lstms = LSTMStack(embedding_dim, hidden_dim, layers, dropout)
        self.output = nn.Linear(hidden_dim, labels)
        self.pause_input = PauseVectors(embedding_dim) if pauses else None
        self.pause_output = PauseVectors(labels) if pauses else None

    def forward(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        inputs = self.embedding(tokens)  # (B, T, E)
        if self.pause_input:
            inputs = inputs + self.pause_input(pauses, tokens)
        hidden, state = self.lstms(inputs, state)  # (B, T, H)
        logits = self.output(hidden)
        return (logits + self.pause_output(pauses, tokens) if self.pause_output else logits), state
