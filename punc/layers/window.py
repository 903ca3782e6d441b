"""The vectors of the words around a slot, as the input of models that see a window of a text and nothing else."""

import torch
from torch import Tensor, nn

from punc.base.errors import InputError
from punc.layers.costs import squared_error
from punc.tokens.store import END, UNK
from punc.tokens.vocabulary import Vocabulary
from punc.tokens.word_vectors import read_word_vectors


class WordVectors(nn.Embedding):
    """An embedding that can begin with the vectors of a file, which are not trained unless `train` says so.

    file   in GloVe's or word2vec's text format; empty: vectors begin random (normal, variance 1) and are trained

    Each dimension of a file's vectors is brought to mean 0 and variance 1 over the words that have one: the next
    layer could do that itself, but would take long to learn it (LeCun et al. 1998, "Efficient BackProp", section 4.3).

    A model is made before its vocabulary is known and loaded where there may be no such file: `fill` reads it.
    """

    def __init__(self, vocab: int, dimensions: int, file: str = "", train: bool = False):
        super().__init__(vocab, dimensions, sparse=True)
        self.file = file
        self.weight.requires_grad_(train or not file)

    def fill(self, vocabulary: Vocabulary) -> None:
        """Read the vectors of the file, if there is one. Raises InputError for one that does not fit."""
        if self.file:
            table = torch.from_numpy(read_word_vectors(self.file, vocabulary.tokens, self.embedding_dim).table)
            own = table[(table != table[UNK]).any(1)]  # words without a vector of their own share that of UNK
            if len(own) > 1:
                table = (table - own.mean(0)) / own.std(0, correction=0).clamp_min(torch.finfo(table.dtype).tiny)
            self.weight.data.copy_(table)


class WindowInput(nn.Module):
    """The vectors of the m words around each slot.

    vocab, vectors   words, and the module that gives them vectors
    window           m
    slot_word        the slot is after this word of the window, counted from 1; 0: the middle one

    The state is the m − 1 tokens before the next one. Before a stream, and after it, there is END.
    """

    def __init__(self, vectors: WordVectors, window: int, slot_word: int = 0):
        super().__init__()
        if window < 1:
            raise InputError(f"--window={window}", "a window has 1 word or more")
        if not 0 <= slot_word <= window:
            raise InputError(f"--slot-word={slot_word}", f"choose a word of the window, 1 to {window}, or 0")
        self.vectors, self.window = vectors, window
        self.last = (slot_word or (window + 1) // 2) - 1  # place of the last word before the slot
        self.lookahead = window - 1 - self.last

    def initial_state(self, batch: int) -> tuple[Tensor]:
        return (torch.full((batch, self.window - 1), END),)

    def forward(self, tokens: Tensor, state: tuple[Tensor]) -> tuple[Tensor, tuple[Tensor]]:
        """Tokens (B, T), state (B, m − 1) → vectors (B, T, m, n) of the window that ends with each token, state."""
        line = torch.cat([state[0], tokens], dim=1)  # (B, m − 1 + T)
        words = line.unfold(1, self.window, 1)  # (B, T, m)
        # Where a stream follows another one, what stands before an END is the other one's.
        before = words[..., :self.last + 1]
        other = (before == END).flip(2).cumsum(2).flip(2) > 0
        words = torch.cat([before.masked_fill(other, END), words[..., self.last + 1:]], dim=2)
        return self.vectors(words), (line[:, tokens.shape[1]:],)


class WindowModel:
    """What models of windows have in common, beside `punc.models.base.Neural`: a model is `Model(WindowModel, Neural)`.

    A model sets itself up with `read_window`, and has `logits`: vectors (B, T, m, n) → logits (B, T, L).
    """

    token_types = ("word", "subword")  # END is outside the text to a window, and of characters it is the last token of one

    def read_window(self, vectors: WordVectors, window: int, slot_word: int, squared_error: bool) -> None:
        """Take the input, and the cost (equation (1), or cross-entropy)."""
        self.input = WindowInput(vectors, window, slot_word)
        self.lookahead, self.squared_error = self.input.lookahead, squared_error

    def take_vocabulary(self, vocabulary: Vocabulary) -> None:
        self.input.vectors.fill(vocabulary)

    def initial_state(self, batch: int) -> tuple[Tensor]:
        return self.input.initial_state(batch)

    def forward(self, tokens: Tensor, pauses: Tensor | None, state: tuple[Tensor]) -> tuple[Tensor, tuple[Tensor]]:
        vectors, state = self.input(tokens, state)
        return self.logits(vectors), state

    def loss(self, logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
        return (squared_error if self.squared_error else super().loss)(logits, labels, weights)
