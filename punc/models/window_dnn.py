"""DNN: Che et al. 2016, "Punctuation Prediction for Unsegmented Transcript Based on Word Vector", section 2.2.

The vectors (n numbers each) of the m words around a slot are concatenated. The result passes through three fully
connected sigmoid layers and a softmax:

    x = [v(w(i−(m−1)/2)) … v(w(i)) … v(w(i+(m−1)/2))]           m·n numbers
    h1 = σ(W1 x + b1); h2 = σ(W2 h1 + b2); h3 = σ(W3 h2 + b3)   2048, 4096, 2048 units
    ŷ = softmax(W4 h3 + b4)
"""

from typing import Any

from torch import Tensor

from punc.models.base import WindowModel


class Model(WindowModel):
    """DNN. It also has the options of WindowModel.

    hidden_dim   units of the first and the third layer; the second has twice as many
    """

    def __init__(self, vocab: int, labels: int, hidden_dim: int = 2048, **options: Any):
        super().__init__(vocab, labels, **options)
        self.classifier = self.fully_connected(self.window * self.embedding_dim, hidden_dim, 2 * hidden_dim, hidden_dim,
                                               labels)

    def logits(self, vectors: Tensor) -> Tensor:
        return self.classifier(vectors.flatten(2))
