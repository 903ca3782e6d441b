"""Pause-BiLSTM: words and pauses, read in both directions (after Graves & Schmidhuber 2005; Tilk & Alumäe 2016).

Layers of LSTM in both directions, with the pause in each slot as a vector next to the word before it, and once more at
the output, where a log-linear term weighs it against the words:

    y_0(t) = e(w_t) + a(p_t);  y_l(t) = [forward LSTM(y_(l−1))(t), backward LSTM(y_(l−1))(t)]
    ŷ(t) = softmax(W y_n(t) + b + c(p_t))

a and c are tables over classes of durations (layers.pause_vectors); an unknown pause is a class, so one model reads
text with pauses and without. Tilk & Alumäe 2016, "Bidirectional Recurrent Neural Network with Attention Mechanism for
Punctuation Restoration", read both directions with one layer of GRU and add the pause, in seconds, in a second stage
only. Embeddings begin small, so that a rare word says little until it has been learned.
"""

import torch
from torch import Tensor, nn

from punc.layers.lstm_stack import BidirectionalStack, with_ends
from punc.layers.pause_vectors import PauseVectors
from punc.models.base import NeuralModel, State


class Model(NeuralModel):
    """Pause-BiLSTM.

    embedding_dim   size of a word's vector
    embedding_std   standard deviation of the first word vectors
    hidden_dim      units of each LSTM layer in each direction
    layers          LSTM layers
    dropout         dropout rate before, between and after the LSTM layers
    pauses          read the pauses
    """

    def __init__(self, vocab: int, labels: int, embedding_dim: int = 96, hidden_dim: int = 96, layers: int = 2,
                 dropout: float = 0.0, embedding_std: float = 0.3, pauses: bool = True):
        super().__init__()
        self.embedding = nn.Embedding(vocab, embedding_dim, sparse=True)
        nn.init.normal_(self.embedding.weight, std=embedding_std)
        self.lstms = BidirectionalStack(embedding_dim, hidden_dim, layers, dropout)
        self.output = nn.Linear(2 * hidden_dim, labels)
        self.pause_input = PauseVectors(embedding_dim) if pauses else None
        self.pause_output = PauseVectors(labels) if pauses else None

    def forward(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        line, lengths = with_ends(tokens)
        inputs = self.embedding(line)  # (B, T + 1, E)
        if self.pause_input:
            padded = None if pauses is None else nn.functional.pad(pauses, (0, 1), value=torch.nan)
            inputs = inputs + self.pause_input(padded, line)
        logits = self.output(self.lstms(inputs, lengths + 1)[:, :-1])  # (B, T, L)
        return (logits + self.pause_output(pauses, tokens) if self.pause_output else logits), ()
