"""Pause-Delay: words and pauses, read left to right with a delay (after Gale & Parthasarathy 2017, section 2.3.1).

Layers of LSTM that decide a slot n words after it, as `delay` does, with the pause in the slot as a vector next to the
newest word, and once more at the output:

    ŷ(t) = softmax(W LSTM(… LSTM(e(w_(t+n)) + a(p_t))) + b + c(p_t))

a and c are tables over classes of durations (layers.pause_vectors); an unknown pause is a class. In a stream the words
after the slot come with their pauses, but the model reads the slot's own pause only, when it decides the slot.
"""

import numpy as np
from torch import Tensor, nn

from punc.base.errors import check_at_least
from punc.layers.lstm_stack import LSTMStack
from punc.layers.pause_vectors import PauseVectors, pause_class
from punc.models.base import EmbeddingStepper, LSTMModel, State


class Model(LSTMModel):
    """Pause-Delay.

    delay           how many words past a slot the model reads
    embedding_std   standard deviation of the first word vectors
    pauses          read the pauses
    """

    lookahead = 4

    def __init__(self, vocab: int, labels: int, delay: int = 4, embedding_dim: int = 96, hidden_dim: int = 192,
                 layers: int = 1, dropout: float = 0.0, embedding_std: float = 0.3, pauses: bool = True):
        super().__init__()
        check_at_least(0, delay=delay)
        self.lookahead, self.reads_pauses = delay, pauses
        self.embedding = nn.Embedding(vocab, embedding_dim, sparse=True)
        nn.init.normal_(self.embedding.weight, std=embedding_std)
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

    def stepper(self) -> "Stepper":
        return Stepper(self)


class Stepper(EmbeddingStepper):
    """The model one token at a time, with the pauses."""

    def __init__(self, model: Model):
        super().__init__(model.embedding, model.lstms, model.output)
        self.pause_inputs = self.pause_outputs = None
        if model.pause_input and model.pause_output:
            no_word = np.zeros(model.embedding.embedding_dim, np.float32)
            nothing = self.lstms.project(no_word)  # the biases, counted once
            self.pause_inputs = self.lstms.project(model.pause_input.weight.detach().numpy()) - nothing
            self.pause_outputs = model.pause_output.weight.detach().numpy()

    def hidden(self, token: int, pause: float) -> np.ndarray:
        gates = self.project(token)
        return self.lstms.step(gates if self.pause_inputs is None else gates + self.pause_inputs[pause_class(pause)])

    def step(self, token: int, pause: float) -> np.ndarray:
        logits = super().step(token, pause)
        return logits if self.pause_outputs is None else logits + self.pause_outputs[pause_class(pause)]
