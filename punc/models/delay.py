"""Delay: Gale & Parthasarathy 2017, "Experiments in Character-level Neural Network Models for Punctuation", 2.3.1.

Layers of LSTM that say what is in a slot n tokens after it, e(t) the embedding of token t:

    ŷ(t) = softmax(W LSTM(… LSTM(e(t + n))) + b)

The paper pads a text with one <EOT> and n − 1 <PAD> tokens; here all of them are END, of which the last token of a
text of characters is one too. With words as tokens and a delay of 1 it is the Word Delay-RNN of section 3.3.1.
"""

from functools import lru_cache

import numpy as np
from torch import Tensor, nn

from punc.base.errors import InputError
from punc.layers.lstm_stack import LSTMStack
from punc.models.base import NeuralModel, State


class Model(NeuralModel):
    """Delay.

    delay           how many tokens past a slot it is decided
    embedding_dim   numbers of a token's vector
    hidden_dim      units of each LSTM layer
    layers          LSTM layers
    dropout         part left out in training between embedding, LSTM layers and softmax
    """

    lookahead = 8

    def __init__(self, vocab: int, labels: int, delay: int = 8, embedding_dim: int = 15,
                 hidden_dim: int = 200, layers: int = 3, dropout: float = 0.2):
        super().__init__()
        if delay < 0:
            raise InputError(f"--delay={delay}", "it is 0 or more")
        self.lookahead = delay
        self.embedding = nn.Embedding(vocab, embedding_dim, sparse=True)
        self.lstms = LSTMStack(embedding_dim, hidden_dim, layers, dropout)
        self.output = nn.Linear(hidden_dim, labels)

    def initial_state(self, batch: int) -> State:
        return self.lstms.initial_state(batch)

    def forward(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        hidden, state = self.lstms(self.embedding(tokens), state)  # (B, T, H)
        return self.output(hidden), state

    def stepper(self) -> "Stepper":
        return Stepper(self)


class Stepper:
    """The model one token at a time, with the first layer's projections of the tokens it met kept."""

    def __init__(self, model: Model):
        self.lstms = model.lstms.stepper()
        self.weight, self.bias = model.output.weight.detach().numpy(), model.output.bias.detach().numpy()
        embedding = model.embedding.weight.detach().numpy()
        self.project = lru_cache(1 << 14)(lambda token: self.lstms.project(embedding[token]))

    def step(self, token: int, pause: float) -> np.ndarray:
        return self.weight @ self.lstms.step(self.project(token)) + self.bias
