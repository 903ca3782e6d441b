"""Pause-Window: a network that reads the pauses, the words or both in a small window around the slot.

Tilk & Alumäe 2015, section 2.2, train "a simple model using a small window of pauses only as input features" (here,
`words=false`). Their model finds periods with an F1 of 0.53, but no commas. They specify neither the window nor the
kind of model. Here, the model is a tanh layer and a softmax, where p(t) is the pause in slot t in seconds, e(x(t)) is
the vector of the word x(t) before slot t, and n is the option `window`:

    y(t) = tanh(W [p(t − n) … p(t + n), e(x(t − n + 1)) … e(x(t + n))] + b)
    ŷ(t) = softmax(V y(t) + c)

Words before and after a text are `</s>`, and pauses there are unknown. The model reads complete streams.
"""

import torch
from torch import Tensor, nn

from punc.base.errors import InputError, check_at_least
from punc.layers.pauses import PauseInput
from punc.models.base import NeuralModel, State
from punc.tokens.vocabulary import END


class Model(NeuralModel):
    """Pause-Window.

    window          number of slots, and of words, that are read on each side of the slot
    words           read the words
    pauses          read the pauses
    embedding_dim   size of a word's vector
    hidden_dim      number of tanh units
    """

    def __init__(self, vocab: int, labels: int, window: int = 2, words: bool = True, pauses: bool = True,
                 embedding_dim: int = 50, hidden_dim: int = 100):
        super().__init__()
        check_at_least(1, window=window, hidden_dim=hidden_dim)
        if not words and not pauses:
            raise InputError("words=false and pauses=false leave no input", "set one of them to true")
        self.window = window
        self.embedding = nn.Embedding(vocab, embedding_dim, sparse=True) if words else None
        self.pauses = PauseInput() if pauses else None
        inputs = (self.pauses.size * (2 * window + 1) if self.pauses else 0) + words * 2 * window * embedding_dim
        self.hidden = nn.Linear(inputs, hidden_dim)
        self.output = nn.Linear(hidden_dim, labels)

    def forward(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        n, steps, features = self.window, tokens.shape[1], []
        if self.pauses:
            pauses = torch.full_like(tokens, torch.nan, dtype=torch.float32) if pauses is None else pauses
            pauses = pauses.masked_fill(tokens == END, torch.nan)  # the padding may contain any values
            line = nn.functional.pad(pauses, (n, n), value=torch.nan)
            features += [self.pauses(line[:, shift:shift + steps], tokens).transpose(0, 1)
                         for shift in range(2 * n + 1)]
        if self.embedding:
            line = nn.functional.pad(tokens, (n - 1, n), value=END)
            features += [self.embedding(line[:, shift:shift + steps]) for shift in range(2 * n)]
        return self.output(self.hidden(torch.cat(features, dim=2)).tanh()), ()
