"""FC-LSTM: Chen, Wu & Su, "Investigating context influence in character Level LSTM methods for Japanese Auto
Punctuation" (Baidu, after 2016), section 2.1.

At each step, an LSTM layer reads the concatenated vectors of a token and of the w tokens after it:

    context(X(t)) = [X(t), X(t+1), …, X(t+w)]                            (6)
    h(t), c(t) = LSTM(context(X(t)), h(t−1), c(t−1))                     (7)
    ŷ(t) = softmax(Wᵀ h(t) + b)                                          (3), (8)

Tokens past the end of the text are END (see ContextModel).
"""

from punc.base.errors import check_at_least
from punc.models import ngram_lstm


class Model(ngram_lstm.Model):
    """FC-LSTM. The paper gives neither embedding_dim nor hidden_dim, and does not use dropout.

    ahead   number of following tokens that are read together with a token: w
    """

    lookahead = 1

    def __init__(self, vocab: int, labels: int, ahead: int = 1, embedding_dim: int = 64, hidden_dim: int = 128,
                 dropout: float = 0.0):
        check_at_least(0, ahead=ahead)
        super().__init__(vocab, labels, ahead + 1, embedding_dim, hidden_dim, 1, dropout)
        self.set_context(0, ahead)
