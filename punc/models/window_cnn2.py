"""CNN-2: Che et al. 2016, "Punctuation Prediction for Unsegmented Transcript Based on Word Vector", section 2.2.

The m word vectors of n numbers around a slot as an image of m × n pixels. Three convolutions, the first one pooled,
then two fully connected layers of sigmoids; softmax:

    c1 = pool(tanh(C1 * x)); c2 = tanh(C2 * c1); c3 = tanh(C3 * c2)    64, 128, 128 filters
    h1 = σ(W1 c3 + b1); h2 = σ(W2 h1 + b2)                             4096, 2048 units
    ŷ = softmax(W3 h2 + b3)

The paper gives neither the filters' sizes nor what follows them nor the pooling. Here: squares, with as many zeros
around the image as keep its size; tanh, a sigmoid around 0; the largest of squares side by side, cut off at the edge.
"""

from itertools import pairwise

from torch import Tensor, nn

from punc.base.errors import InputError
from punc.layers.fully_connected import FullyConnected
from punc.layers.window import WindowModel, WordVectors
from punc.models.base import NeuralModel


class Model(WindowModel, NeuralModel):
    """CNN-2.

    vectors         file of word vectors in GloVe's or word2vec's text format; empty: they begin random and are trained
    train_vectors   whether vectors of a file are trained too
    embedding_dim   numbers of a vector
    window          words that are read
    slot_word       the slot is after this word of the window; 0: the middle one
    filters         filters of the first convolution; the second and the third have twice as many
    kernel          side of a filter, an odd number of pixels
    pool            side of the squares that are pooled; 1: no pooling
    hidden_dim      units of the second fully connected layer; the first has twice as many
    dropout         part of the hidden units left out in training (the paper has it, and no rate)
    shared_dropout  whether a whole batch leaves out the same units, which saves the time they would take
    centred         whether hidden layers hand on σ − ½: the same function, learned otherwise
    squared_error   whether the cost is the paper's equation (1) instead of cross-entropy
    """

    lookahead = 2

    def __init__(self, vocab: int, labels: int, vectors: str = "", train_vectors: bool = False,
                 embedding_dim: int = 50, window: int = 5, slot_word: int = 0, filters: int = 64,
                 kernel: int = 3, pool: int = 2, hidden_dim: int = 2048, dropout: float = 0.0,
                 shared_dropout: bool = True, centred: bool = False, squared_error: bool = False):
        super().__init__()
        self.read_window(WordVectors(vocab, embedding_dim, vectors, train_vectors), window, slot_word, squared_error)
        if kernel < 1 or kernel % 2 == 0:
            raise InputError(f"--kernel={kernel}", "it is an odd number: a filter has a pixel in its middle")
        if pool < 1:
            raise InputError(f"--pool={pool}", "it is 1 or more")
        layers = [nn.Conv2d(before, after, kernel, padding="same")
                  for before, after in pairwise((1, filters, 2 * filters, 2 * filters))]
        for layer in layers:
            nn.init.xavier_uniform_(layer.weight, nn.init.calculate_gain("tanh"))
        self.convolutions = nn.Sequential(layers[0], nn.Tanh(), nn.MaxPool2d(pool, ceil_mode=True),
                                          layers[1], nn.Tanh(), layers[2], nn.Tanh())
        pixels = -(-window // pool) * -(-embedding_dim // pool)
        self.classifier = FullyConnected((2 * filters * pixels, 2 * hidden_dim, hidden_dim, labels), dropout,
                                         shared_dropout, centred)

    def logits(self, vectors: Tensor) -> Tensor:
        image = vectors.flatten(0, 1).unsqueeze(1)  # (B·T, 1, m, n)
        return self.classifier(self.convolutions(image).flatten(1)).unflatten(0, vectors.shape[:2])
