"""CNN-2: Che et al. 2016, "Punctuation Prediction for Unsegmented Transcript Based on Word Vector", section 2.2.

The m word vectors of size n around a slot form an image of m × n pixels. The image passes through three convolutions
(with pooling after the first one), two fully connected sigmoid layers, and a softmax:

    c1 = pool(tanh(C1 * x)); c2 = tanh(C2 * c1); c3 = tanh(C3 * c2)    64, 128, 128 filters
    h1 = σ(W1 c3 + b1); h2 = σ(W2 h1 + b2)                             4096, 2048 units
    ŷ = softmax(W3 h2 + b3)

The paper does not specify the size of the filters, their activation or the pooling. Here, filters cover 3 × 3 pixels,
and zero padding keeps the size of the image. The activation is tanh. Max-pooling uses non-overlapping squares, which
are cut at the edges of the image.
"""

from itertools import pairwise
from typing import Any

from torch import Tensor, nn

from punc.base.errors import check_at_least
from punc.models.base import WindowModel

SIDE = 3  # the width and height of a filter, in pixels


class Model(WindowModel):
    """CNN-2. It also has the options of WindowModel.

    filters      number of filters of the first convolution; the second and the third have twice as many
    pool         side of the squares that are pooled; 1: no pooling
    hidden_dim   units of the second fully connected layer; the first has twice as many
    """

    def __init__(self, vocab: int, labels: int, filters: int = 64, pool: int = 2, hidden_dim: int = 2048,
                 **options: Any):
        super().__init__(vocab, labels, **options)
        check_at_least(1, pool=pool)
        layers = [nn.Conv2d(before, after, SIDE, padding="same")
                  for before, after in pairwise((1, filters, 2 * filters, 2 * filters))]
        for layer in layers:
            nn.init.xavier_uniform_(layer.weight, nn.init.calculate_gain("tanh"))
        # tanh is monotonic, so max-pooling may come first, which leaves fewer pixels for tanh.
        self.convolutions = nn.Sequential(layers[0], nn.MaxPool2d(pool, ceil_mode=True), nn.Tanh(),
                                          layers[1], nn.Tanh(), layers[2], nn.Tanh())
        pixels = -(-self.window // pool) * -(-self.embedding_dim // pool)
        self.classifier = self.fully_connected(2 * filters * pixels, 2 * hidden_dim, hidden_dim, labels)

    def logits(self, vectors: Tensor) -> Tensor:
        image = vectors.flatten(0, 1).unsqueeze(1)  # (B·T, 1, m, n)
        return self.classifier(self.convolutions(image).flatten(1)).unflatten(0, vectors.shape[:2])
