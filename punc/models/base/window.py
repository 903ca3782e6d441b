"""Models that see a window of words around the slot and nothing else."""

import torch
from torch import Tensor

from punc.layers.window import FullyConnected, WindowInput, WordVectors, squared_error
from punc.models.base.model import NeuralModel, State
from punc.tokens.vocabulary import END, Vocabulary


class WindowModel(NeuralModel):
    """A model of Che et al. 2016. A subclass has `logits`, which ends with layers of `fully_connected`.

    vectors         file of word vectors in GloVe's or word2vec's text format; empty: random vectors, which are trained
    train_vectors   train the vectors of a file too
    embedding_dim   size of a word vector
    window          words in the window
    slot_word       the slot follows this word of the window, counted from 1; 0: the middle word
    dropout         dropout rate of the hidden units, the same ones for a whole batch (the paper gives no rate)
    centred         hidden layers pass on σ − ½: the same function, but it learns differently
    squared_error   minimize the paper's equation (1) instead of cross-entropy
    """

    token_types = ("word", "subword")  # a window needs END outside the text; in characters it is a text's last token
    lookahead = 2

    def __init__(self, vocab: int, labels: int, vectors: str = "", train_vectors: bool = False,
                 embedding_dim: int = 50, window: int = 5, slot_word: int = 0, dropout: float = 0.0,
                 centred: bool = False, squared_error: bool = False):
        super().__init__()
        self.input = WindowInput(WordVectors(vocab, embedding_dim, vectors, train_vectors), window, slot_word)
        self.lookahead, self.squared_error = self.input.lookahead, squared_error
        self.window, self.embedding_dim = window, embedding_dim
        self.dropout, self.centred = dropout, centred

    def fully_connected(self, *sizes: int) -> FullyConnected:
        """Layers of sigmoids with the dropout of this model, and a linear output. `sizes` of input, layers, output."""
        return FullyConnected(sizes, self.dropout, self.centred)

    def logits(self, vectors: Tensor) -> Tensor:
        """Vectors (B, T, m, n) of the m words around each slot → logits (B, T, L)."""
        raise NotImplementedError

    def initialize_from_vocabulary(self, vocabulary: Vocabulary) -> None:
        self.input.vectors.initialize_from_vocabulary(vocabulary)

    def initial_state(self, batch: int) -> State:
        return self.input.initial_state(batch)

    def forward(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        vectors, state = self.input(tokens, state)
        return self.logits(vectors), state

    def traceable(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        """The state: the last m − 1 tokens, less END."""
        line = torch.cat([state[0] + END, tokens], dim=1)  # (B, m)
        before, after = line[:, :self.input.last + 1], line[:, self.input.last + 1:]
        previous = (before == END).long().flip(1).cumsum(1).flip(1) > 0  # as WindowInput has it
        words = torch.cat([before.masked_fill(previous, END), after], dim=1)
        return self.logits(self.input.vectors(words).unsqueeze(1)), (line[:, 1:] - END,)

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Equation (1) or cross-entropy, the mean over slots."""
        return squared_error(logits, labels) if self.squared_error else super().loss(logits, labels)
