"""CNN-Ngram: Gale & Parthasarathy 2017, "Experiments in Character-level Neural Network Models for Punctuation", 2.3.4.

CNN-Feature (`cnn_feature`) with temporal max-pooling of width n after the convolution:

    f(t) = tanh(F * e)(t)
    m(t) = max(f(t − ⌊(n−1)/2⌋) … f(t + ⌈(n−1)/2⌉))
    ŷ(t) = softmax(W LSTM(LSTM(highway(m(t)))) + b)

Outside the text, the convolution reads <NULL>, here END. The pooling ignores steps outside the text, because there f is
set to −1, the lower bound of tanh. The model reads 3 + ⌈(n−1)/2⌉ tokens past a slot. It can stream, with the same
output as for complete texts (see ContextModel).
"""

from typing import Any

from torch import Tensor, nn

from punc.base.errors import check_at_least
from punc.layers.convolution import outside
from punc.models import cnn_feature


class Model(cnn_feature.Model):
    """CNN-Ngram. It also has the options of CNN-Feature.

    pool   number of steps over which the maximum is taken: n
    """

    lookahead = 5

    def __init__(self, vocab: int, labels: int, pool: int = 4, **options: Any):
        super().__init__(vocab, labels, **options)
        check_at_least(1, pool=pool)
        self.pool = pool
        # `outside` looks at a token and the token before it, so at least one earlier token is kept.
        self.first = max(1, self.filters.before)
        self.set_context(self.first + (pool - 1) // 2, self.filters.ahead + pool // 2)

    def features(self, line: Tensor) -> Tensor:
        vectors = self.embedding_dropout(self.embedding(line[:, self.first - self.filters.before:]))
        convolved = self.filters(vectors)  # (B, T + n − 1, filters), starting at step `first` of `line`
        is_outside = outside(line[:, self.first - 1:self.first + convolved.shape[1]]).unsqueeze(2)
        convolved = convolved.masked_fill(is_outside, -1.0)  # the lower bound of tanh
        pooled = nn.functional.max_pool1d(convolved.transpose(1, 2), self.pool, 1)  # (B, filters, T)
        return self.highway(pooled.transpose(1, 2))
