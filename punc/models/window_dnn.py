"""DNN: Che et al. 2016, "Punctuation Prediction for Unsegmented Transcript Based on Word Vector", section 2.2.

The vectors of the m words around a slot, end to end, through three fully connected layers of sigmoids; softmax:

    x = [v(w(i−(m−1)/2)) … v(w(i)) … v(w(i+(m−1)/2))]           m·n numbers
    h1 = σ(W1 x + b1); h2 = σ(W2 h1 + b2); h3 = σ(W3 h2 + b3)   2048, 4096, 2048 units
    ŷ = softmax(W4 h3 + b4)
"""

from torch import Tensor

from punc.layers.fully_connected import FullyConnected
from punc.layers.window import WindowModel, WordVectors
from punc.models.base import NeuralModel


class Model(WindowModel, NeuralModel):
    """DNN.

    vectors         file of word vectors in GloVe's or word2vec's text format; empty: they begin random and are trained
    train_vectors   whether vectors of a file are trained too
    embedding_dim   numbers of a vector
    window          words that are read
    slot_word       the slot is after this word of the window; 0: the middle one
    hidden_dim      units of the first and the third layer; the second has twice as many
    dropout         part of the hidden units left out in training (the paper has it, and no rate)
    shared_dropout  whether a whole batch leaves out the same units, which saves the time they would take
    centred         whether hidden layers hand on σ − ½: the same function, learned otherwise
    squared_error   whether the cost is the paper's equation (1) instead of cross-entropy
    """

    lookahead = 2

    def __init__(self, vocab: int, labels: int, vectors: str = "", train_vectors: bool = False,
                 embedding_dim: int = 50, window: int = 5, slot_word: int = 0, hidden_dim: int = 2048,
                 dropout: float = 0.0, shared_dropout: bool = True, centred: bool = False, squared_error: bool = False):
        super().__init__()
        self.read_window(WordVectors(vocab, embedding_dim, vectors, train_vectors), window, slot_word, squared_error)
        self.classifier = FullyConnected((window * embedding_dim, hidden_dim, 2 * hidden_dim, hidden_dim, labels),
                                         dropout, shared_dropout, centred)

    def logits(self, vectors: Tensor) -> Tensor:
        return self.classifier(vectors.flatten(2))
