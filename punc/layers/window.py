"""Layers and a loss for models that read only a window of words (Che et al. 2016)."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from punc.base.errors import InputError, check_at_least, check_probability
from punc.tokens.vocabulary import END, UNK, Vocabulary
from punc.tokens.word_vectors import read_word_vectors


class WordVectors(nn.Embedding):
    """An embedding that can be initialized from a file of word vectors in GloVe's or word2vec's text format.

    Vectors from a file are trained only if `train_vectors` is true. Each of their dimensions is normalized to mean 0
    and variance 1 over the words of the vocabulary that have their own vector (LeCun et al. 1998, "Efficient BackProp",
    section 4.3). Without a file, the vectors are drawn from a standard normal distribution, and are always trained.
    """

    def __init__(self, vocab: int, embedding_dim: int, vectors: str = "", train_vectors: bool = False):
        super().__init__(vocab, embedding_dim, sparse=True)
        self.file = vectors
        self.weight.requires_grad_(train_vectors or not vectors)

    def initialize_from_vocabulary(self, vocabulary: Vocabulary) -> None:
        """Read the vector file of a new model, if there is one. Raises InputError if the file does not fit the
        model. A trained model never reads the file, which may no longer exist."""
        if self.file:
            table = torch.from_numpy(read_word_vectors(self.file, vocabulary.tokens, self.embedding_dim))
            own = table[(table != table[UNK]).any(1)]  # words that are not in the file have the vector of UNK
            if len(own) > 1:
                table = (table - own.mean(0)) / own.std(0, correction=0).clamp_min(torch.finfo(table.dtype).tiny)
            self.weight.data.copy_(table)


class WindowInput(nn.Module):
    """Looks up the vectors of the m = `window` words around each slot. The slot follows word `slot_word` of the window,
    counted from 1, or the middle word if `slot_word` is 0. The state consists of the last m − 1 tokens. Tokens outside
    a stream are END."""

    def __init__(self, vectors: WordVectors, window: int, slot_word: int = 0):
        super().__init__()
        check_at_least(1, window=window)
        if not 0 <= slot_word <= window:
            raise InputError(f"slot_word={slot_word} is not in the window",
                             f"choose a word of the window, 1 to {window}, or 0")
        self.vectors, self.window = vectors, window
        self.last = (slot_word or (window + 1) // 2) - 1  # the index of the word before the slot
        self.lookahead = window - 1 - self.last

    def initial_state(self, batch: int) -> tuple[Tensor]:
        """Return END for each of the m − 1 tokens before a stream, (batch, m − 1)."""
        return (torch.full((batch, self.window - 1), END, device=self.vectors.weight.device),)

    def forward(self, tokens: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor]]:
        """Return the vectors (B, T, m, n) of the windows that end at the tokens (B, T), and the new state."""
        line = torch.cat([state[0], tokens], dim=1)  # (B, m − 1 + T)
        return self.vectors_of(line.unfold(1, self.window, 1)), (line[:, tokens.shape[1]:],)

    def vectors_of(self, words: Tensor) -> Tensor:
        """Return the vectors (…, m, n) of windows (…, m). If there is an END before the slot, the words before this END
        belong to the previous stream and are read as END."""
        before = words[..., :self.last + 1]
        previous = (before == END).long().flip(-1).cumsum(-1).flip(-1) > 0
        return self.vectors(torch.cat([before.masked_fill(previous, END), words[..., self.last + 1:]], dim=-1))


class FullyConnected(nn.Module):
    """Fully connected sigmoid layers with dropout (Srivastava et al. 2014), and a linear output:

    h(l) = σ(W(l) h(l−1) + b(l)) for each hidden layer, then W h + b.

    dropout   rate at which hidden units are dropped in training; all samples of a batch drop the same units, so that
              products with these units need not be computed (Graham, Reizenstein & Robinson 2015, "Efficient batchwise
              dropout training using submatrices")
    centred   hidden layers return σ − ½, which changes how they learn (LeCun et al. 1998, section 4.4)

    Initial weights are uniform in the range of Glorot & Bengio (2010). Between two sigmoid layers, the range is 4 times
    as wide, because the slope of a sigmoid is ¼. If the sigmoids are not centred, their mean is about ½ at first, and
    the initial biases of the next layer cancel it.
    """

    def __init__(self, sizes: Sequence[int], dropout: float = 0.0, centred: bool = False):
        super().__init__()
        check_probability(dropout=dropout)
        self.dropout, self.middle = dropout, 0.5 * centred
        layers = [nn.Linear(*pair) for pair in pairwise(sizes)]
        self.layers = nn.ModuleList(layers)
        for number, layer in enumerate(layers):
            nn.init.xavier_uniform_(layer.weight, 4.0 if 0 < number < len(layers) - 1 else 1.0)
            with torch.no_grad():
                mean = 0.5 - self.middle if number else 0.0
                layer.bias.copy_(-mean * layer.weight.sum(1))

    def forward(self, inputs: Tensor) -> Tensor:
        """Map (…, sizes[0]) to (…, sizes[-1])."""
        layers: Any = self.layers
        kept: Tensor | None = None  # the units of the layer below that are kept; None: all units
        for layer in layers[:-1]:
            weight, bias, units = layer.weight, layer.bias, None
            if self.training and self.dropout:
                units = self._kept(layer.out_features)
                weight = weight.index_select(0, units)
                bias = bias.index_select(0, units)
            if kept is not None:
                weight = weight.index_select(1, kept)
            inputs = nn.functional.linear(inputs, weight, bias).sigmoid() - self.middle
            if units is not None:
                inputs, kept = inputs * (layer.out_features / len(units)), units
        weight = layers[-1].weight
        return nn.functional.linear(inputs, weight if kept is None else weight.index_select(1, kept), layers[-1].bias)

    def _kept(self, size: int) -> Tensor:
        count = max(1, round((1 - self.dropout) * size))
        if count > 256:
            count -= count % 16  # matrix products take a third longer if the size is not a multiple of 16
        return torch.randperm(size, device=next(self.parameters()).device)[:count].sort().values


def squared_error(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the mean over slots of ½‖ŷ − y‖², given logits (…, L) and labels (…), −1 where there is no slot. This is
    Che et al. 2016, equation (1), without its second term, weight decay, which the optimizer applies."""
    slots = labels >= 0
    posteriors, labels = logits[slots].softmax(1), labels[slots]
    errors = (posteriors - nn.functional.one_hot(labels, logits.shape[-1])).square().sum(1) / 2
    return errors.mean()
