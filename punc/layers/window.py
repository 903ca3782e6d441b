"""The vectors of the words around a slot, the input of models that see a window of a text and nothing else."""

import torch
from torch import Tensor, nn

from punc.base.errors import InputError, check_at_least
from punc.tokens.vocabulary import END, UNK, Vocabulary
from punc.tokens.word_vectors import read_word_vectors


class WordVectors(nn.Embedding):
    """An embedding whose initial weights can come from a file of word vectors.

    vectors         file in GloVe's or word2vec's text format; empty: random vectors (normal, variance 1), which are
                    trained
    train_vectors   train the vectors of a file too

    Each dimension of a file's vectors is normalized to mean 0 and variance 1 over the words that have a vector. The
    next layer could learn that itself, but slowly (LeCun et al. 1998, "Efficient BackProp", section 4.3).

    The constructor does not read the file: a model is built before its vocabulary is known, and a trained model is
    loaded where there may be no such file.
    """

    def __init__(self, vocab: int, embedding_dim: int, vectors: str = "", train_vectors: bool = False):
        super().__init__(vocab, embedding_dim, sparse=True)
        self.file = vectors
        self.weight.requires_grad_(train_vectors or not vectors)

    def initialize_from_vocabulary(self, vocabulary: Vocabulary) -> None:
        """Read the vectors of the file, if there is one. Raises InputError if it does not fit."""
        if self.file:
            table = torch.from_numpy(read_word_vectors(self.file, vocabulary.tokens, self.embedding_dim).table)
            own = table[(table != table[UNK]).any(1)]  # words without a vector in the file share that of UNK
            if len(own) > 1:
                table = (table - own.mean(0)) / own.std(0, correction=0).clamp_min(torch.finfo(table.dtype).tiny)
            self.weight.data.copy_(table)


class WindowInput(nn.Module):
    """The vectors of the m words around each slot.

    vectors     gives words their vectors
    window      m
    slot_word   the slot follows this word of the window, counted from 1; 0: the middle word

    The state is the last m − 1 tokens. Before and after a stream there is END.
    """

    def __init__(self, vectors: WordVectors, window: int, slot_word: int = 0):
        super().__init__()
        check_at_least(1, window=window)
        if not 0 <= slot_word <= window:
            raise InputError(f"slot_word={slot_word}", f"choose a word of the window, 1 to {window}, or 0")
        self.vectors, self.window = vectors, window
        self.last = (slot_word or (window + 1) // 2) - 1  # index of the last word before the slot
        self.lookahead = window - 1 - self.last

    def initial_state(self, batch: int) -> tuple[Tensor]:
        """END before a stream, (batch, m − 1)."""
        return (torch.full((batch, self.window - 1), END, device=self.vectors.weight.device),)

    def forward(self, tokens: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor]]:
        """tokens (B, T), state (B, m − 1) → vectors (B, T, m, n) of the window that ends with each token, state."""
        line = torch.cat([state[0], tokens], dim=1)  # (B, m − 1 + T)
        words = line.unfold(1, self.window, 1)  # (B, T, m)
        # In a row, streams follow each other: words before an END belong to the previous stream.
        before = words[..., :self.last + 1]
        previous = (before == END).flip(2).cumsum(2).flip(2) > 0
        words = torch.cat([before.masked_fill(previous, END), words[..., self.last + 1:]], dim=2)
        return self.vectors(words), (line[:, tokens.shape[1]:],)
