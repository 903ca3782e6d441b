"""Models that read a window of tokens at each step, with LSTM layers (`ContextModel`) or without (`WindowModel`).

For slot t, a `ContextModel` reads the tokens t − `before` … t + `ahead`. Its look-ahead is `ahead`. Its state consists
of the last `before` + `ahead` tokens and the state of the LSTMs. Outside the text, the model reads END, which
Gale & Parthasarathy 2017 call <NULL>. The LSTMs skip the first `ahead` steps, which have no slot.
"""

import torch
from torch import Tensor, nn

from punc.layers.lstm_stack import LSTMStack
from punc.layers.window import FullyConnected, WindowInput, WordVectors, squared_error
from punc.models.base.model import NeuralModel, State
from punc.tokens.vocabulary import END, Vocabulary


class LSTMModel(NeuralModel):
    """A model with LSTM layers `lstms`, followed by a linear layer `output`. Options of most subclasses:

    embedding_dim   size of a token's vector
    hidden_dim      units of each LSTM layer
    layers          number of LSTM layers
    dropout         dropout rate before, between and after the LSTM layers
    """

    lstms: LSTMStack
    output: nn.Linear

    def initial_state(self, batch: int) -> State:
        return self.lstms.initial_state(batch)


class ContextModel(LSTMModel):
    """An LSTMModel that reads features of the tokens around each slot. A subclass calls `set_context`, creates `lstms`
    and `output`, and defines `features`."""

    def set_context(self, before: int, ahead: int) -> None:
        self.before, self.ahead, self.lookahead = before, ahead, ahead

    def features(self, line: Tensor) -> Tensor:
        """Map tokens (B, before + T + ahead) to the inputs of the LSTMs, (B, T, D)."""
        raise NotImplementedError

    def initial_state(self, batch: int) -> State:
        kept = torch.full((batch, self.before), END, device=self.device)
        return kept, *self.lstms.initial_state(batch)

    def forward(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        kept, hidden_state, cell_state = state
        lstm_state = hidden_state, cell_state
        line = torch.cat([kept, tokens], dim=1)
        around = self.before + self.ahead
        # The number of slots; less than that of the tokens only at a stream's start.
        steps = max(0, line.shape[1] - around)
        if steps:
            hidden, lstm_state = self.lstms(self.features(line), lstm_state)
        else:
            hidden = self.output.weight.new_zeros(len(line), 0, self.output.in_features)
        hidden = nn.functional.pad(hidden, (0, 0, tokens.shape[1] - steps, 0))
        return self.output(hidden), (line[:, max(0, line.shape[1] - around):], *lstm_state)

    def traceable(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        """Compute one step. The state consists of the ids of the last `before` + `ahead` tokens, the number of tokens
        read, and the h and c of the LSTMs. END is subtracted from each id, so that 0 stands for END."""
        kept, count, *lstm_state = state
        line = torch.cat([kept + END, tokens], dim=1)
        hidden, after = self.lstms(self.features(line), (lstm_state[0], lstm_state[1]))
        starts = (count >= self.ahead).unsqueeze(0)  # (1, B, 1); the LSTMs keep their initial state until this is true
        h, c = (torch.where(starts, new, old) for new, old in zip(after, lstm_state))
        return self.output(hidden), (line[:, 1:] - END, count + 1, h, c)

    def traceable_state(self, batch: int) -> State:
        zeros = torch.zeros(batch, self.before + self.ahead, dtype=torch.int64, device=self.device)
        count = torch.zeros(batch, 1, dtype=torch.int64, device=self.device)
        return zeros, count, *(torch.zeros_like(tensor) for tensor in self.lstms.initial_state(batch))


class WindowModel(NeuralModel):
    """A model of Che et al. 2016. A subclass defines `logits`, and makes its last layers with `fully_connected`.

    vectors         file of word vectors in GloVe's or word2vec's text format; empty: random vectors, which are trained
    train_vectors   train the vectors even if they come from a file
    embedding_dim   size of a word vector
    window          number of words in the window
    slot_word       the slot follows this word of the window, counted from 1; 0: the middle word
    dropout         dropout rate of the hidden units (the paper gives no rate); the same units are dropped for a whole
                    batch
    centred         hidden layers return σ − ½; the model can compute the same functions, but trains differently
    squared_error   minimize the paper's equation (1) instead of cross-entropy
    """

    # Not characters: the last token of a character text is END, but `WindowInput` ignores END and all words before it.
    token_types = ("word", "subword")
    lookahead = 2

    def __init__(self, vocab: int, labels: int, vectors: str = "", train_vectors: bool = False,
                 embedding_dim: int = 50, window: int = 5, slot_word: int = 0, dropout: float = 0.0,
                 centred: bool = False, squared_error: bool = False):
        super().__init__()
        self.input = WindowInput(WordVectors(vocab, embedding_dim, vectors, train_vectors), window, slot_word)
        self.lookahead, self.squared_error = self.input.lookahead, squared_error
        self.window, self.embedding_dim = window, embedding_dim
        self.dropout, self.centred = dropout, centred

    def fully_connected(self, *sizes: int) -> FullyConnected:
        """Return sigmoid layers and a linear output layer. `sizes`: the numbers of inputs, of units in each sigmoid
        layer, and of outputs."""
        return FullyConnected(sizes, self.dropout, self.centred)

    def logits(self, vectors: Tensor) -> Tensor:
        """Map the vectors (B, T, m, n) of the m words in each slot's window to logits (B, T, L)."""
        raise NotImplementedError

    def initialize_from_vocabulary(self, vocabulary: Vocabulary) -> None:
        self.input.vectors.initialize_from_vocabulary(vocabulary)

    def initial_state(self, batch: int) -> State:
        return self.input.initial_state(batch)

    def forward(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        vectors, state = self.input(tokens, state)
        return self.logits(vectors), state

    def traceable(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        """Compute one step. The state contains the ids of the last `window` − 1 tokens. END is subtracted from each
        id, so that 0 stands for END."""
        line = torch.cat([state[0] + END, tokens], dim=1)  # (B, m)
        return self.logits(self.input.vectors_of(line).unsqueeze(1)), (line[:, 1:] - END,)

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the mean over slots of the squared error (the paper's equation (1)) or of the cross-entropy."""
        return squared_error(logits, labels) if self.squared_error else super().loss(logits, labels)
