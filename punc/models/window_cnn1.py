"""CNN-1: Che et al. 2016, "Punctuation Prediction for Unsegmented Transcript Based on Word Vector", section 2.2.

As Kim 2014: filters as wide as a word vector move over the m words around a slot, h words at a time; of each filter
the largest value counts. The paper does not say what follows the filter; here it is tanh, as in Kim's equation (2).

    f(h) = max over time of tanh(F(h) * x + c(h))      128 filters for each of h = 1 … 4
    h1 = σ(W1 [f(1) … f(4)] + b1); h2 = σ(W2 h1 + b2)  4096, 2048 units
    ŷ = softmax(W3 h2 + b3)
"""

import torch
from torch import Tensor, nn

from punc.base.errors import InputError
from punc.layers.fully_connected import FullyConnected
from punc.layers.window import WindowModel, WordVectors
from punc.models.base import NeuralModel


class Model(WindowModel, NeuralModel):
    """CNN-1.

    vectors         file of word vectors in GloVe's or word2vec's text format; empty: they begin random and are trained
    train_vectors   whether vectors of a file are trained too
    embedding_dim   numbers of a vector
    window          words that are read
    slot_word       the slot is after this word of the window; 0: the middle one
    filters         filters of each height
    heights         heights of filters, 1 to this; a window has at least so many words
    hidden_dim      units of the second fully connected layer; the first has twice as many
    dropout         part of the hidden units left out in training (the paper has it, and no rate)
    shared_dropout  whether a whole batch leaves out the same units, which saves the time they would take
    centred         whether hidden layers hand on σ − ½: the same function, learned otherwise
    squared_error   whether the cost is the paper's equation (1) instead of cross-entropy
    """

    lookahead = 2

    def __init__(self, vocab: int, labels: int, vectors: str = "", train_vectors: bool = False,
                 embedding_dim: int = 50, window: int = 5, slot_word: int = 0, filters: int = 128,
                 heights: int = 4, hidden_dim: int = 2048, dropout: float = 0.0, shared_dropout: bool = True,
                 centred: bool = False, squared_error: bool = False):
        super().__init__()
        self.read_window(WordVectors(vocab, embedding_dim, vectors, train_vectors), window, slot_word, squared_error)
        if not 1 <= heights <= window:
            raise InputError(f"--heights={heights}", f"a window of {window} words has filters of 1 to {window}")
        self.filters = nn.ModuleList(nn.Conv1d(embedding_dim, filters, height) for height in range(1, heights + 1))
        self.classifier = FullyConnected((heights * filters, 2 * hidden_dim, hidden_dim, labels), dropout,
                                         shared_dropout, centred)

    def logits(self, vectors: Tensor) -> Tensor:
        words = vectors.flatten(0, 1)  # (B·T, m, n)
        features = torch.cat([self._largest(words, filters) for filters in self.filters], dim=1)  # (B·T, F)
        return self.classifier(features).unflatten(0, vectors.shape[:2])

    def _largest(self, words: Tensor, filters: nn.Conv1d) -> Tensor:
        """The largest value of each filter. As one product: on five words that is twice as fast as a convolution."""
        runs = words.unfold(1, filters.kernel_size[0], 1).flatten(2)  # (B·T, m − h + 1, n·h)
        return nn.functional.linear(runs, filters.weight.flatten(1), filters.bias).amax(1).tanh()
