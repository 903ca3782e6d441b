"""FC-LSTM: Chen, Wu & Su, "Investigating context influence in character Level LSTM methods for Japanese Auto
Punctuation" (Baidu, after 2016), section 2.1.

A layer of LSTM that reads, at each token, that token's vector and those of the w tokens after it, end to end:

    context(X(t)) = [X(t), X(t+1), …, X(t+w)]                            (6)
    h(t), c(t) = LSTM(context(X(t)), h(t−1), c(t−1))                     (7)
    ŷ(t) = softmax(Wᵀ h(t) + b)                                          (3), (8)

Past the text's end the tokens are END. In a stream it stands still until w tokens are there (see punc.layers.context).
"""

from torch import Tensor, nn

from punc.base.errors import InputError
from punc.layers.context import ContextModel, end_to_end
from punc.layers.lstm_stack import LSTMStack
from punc.models.base import NeuralModel


class Model(ContextModel, NeuralModel):
    """FC-LSTM.

    ahead           tokens that are read after each one: w
    embedding_dim   numbers of a token's vector (the paper does not say)
    hidden_dim      LSTM units (the paper does not say)
    dropout         part left out in training between embedding, LSTM and softmax (the paper has none)
    """

    lookahead = 1

    def __init__(self, vocab: int, labels: int, ahead: int = 1, embedding_dim: int = 64, hidden_dim: int = 128,
                 dropout: float = 0.0):
        super().__init__()
        if ahead < 0:
            raise InputError(f"--ahead={ahead}", "it is 0 or more")
        self.read_context(0, ahead)
        self.embedding = nn.Embedding(vocab, embedding_dim, sparse=True)
        self.lstms = LSTMStack((ahead + 1) * embedding_dim, hidden_dim, 1, dropout)
        self.output = nn.Linear(hidden_dim, labels)

    def features(self, line: Tensor) -> Tensor:
        """Tokens (B, T + w) → the vectors of w + 1 tokens for each step, (B, T, (w + 1)·E)."""
        return end_to_end(self.embedding(line), self.lookahead + 1)
