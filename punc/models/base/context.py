"""Models with layers of LSTM, among them those that see the tokens around each step.

Streaming: at step t a `ContextModel` needs the tokens t − before … t + ahead. Its look-ahead is `ahead`, and its state
is the last before + ahead tokens and the LSTMs' state. Outside the text there is END, which is also the <NULL> of Gale
& Parthasarathy 2017. The first `ahead` steps of a stream only read tokens, and the LSTMs stand still: they start with
the first token of the text, as if the whole text were there at once.
"""

import torch
from torch import Tensor, nn

from punc.layers.lstm_stack import LSTMStack
from punc.models.base.model import NeuralModel, State
from punc.tokens.vocabulary import END


class LSTMModel(NeuralModel):
    """A model with `lstms` and a linear layer `output` on top of them.

    Options of such models; each model has its own default values:

    embedding_dim   size of a token's vector
    hidden_dim      units of each LSTM layer
    layers          LSTM layers
    dropout         dropout rate before, between and after the LSTM layers
    """

    lstms: LSTMStack
    output: nn.Linear

    def initial_state(self, batch: int) -> State:
        return self.lstms.initial_state(batch)


class ContextModel(LSTMModel):
    """An LSTMModel whose input are features of the tokens around each step.

    A subclass calls `set_context`, creates `lstms` and `output`, and has `features`.
    """

    def set_context(self, before: int, ahead: int) -> None:
        """Set how many tokens a step sees before and after its own."""
        self.before, self.ahead, self.lookahead = before, ahead, ahead

    def features(self, line: Tensor) -> Tensor:
        """Tokens (B, before + T + ahead) → the inputs of the LSTMs, (B, T, D)."""
        raise NotImplementedError

    def initial_state(self, batch: int) -> State:
        kept = torch.full((batch, self.before), END, device=self.device)
        return kept, *self.lstms.initial_state(batch)

    def forward(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        kept, hidden_state, cell_state = state
        lstm_state = hidden_state, cell_state
        line = torch.cat([kept, tokens], dim=1)
        around = self.before + self.ahead
        steps = max(0, line.shape[1] - around)  # less than T only at the start of a stream
        if steps:
            hidden, lstm_state = self.lstms(self.features(line), lstm_state)
        else:
            hidden = self.output.weight.new_zeros(len(line), 0, self.output.in_features)
        hidden = nn.functional.pad(hidden, (0, 0, tokens.shape[1] - steps, 0))
        return self.output(hidden), (line[:, max(0, line.shape[1] - around):], *lstm_state)

    def traceable(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        """The state: the last before + ahead tokens, less END; how many were read; h and c of the LSTMs."""
        kept, count, *lstm_state = state
        line = torch.cat([kept + END, tokens], dim=1)
        hidden, after = self.lstms(self.features(line), (lstm_state[0], lstm_state[1]))
        starts = (count >= self.ahead).unsqueeze(0)  # (1, B, 1): until then, the LSTMs stand still
        h, c = (torch.where(starts, new, old) for new, old in zip(after, lstm_state))
        return self.output(hidden), (line[:, 1:] - END, count + 1, h, c)

    def traceable_state(self, batch: int) -> State:
        zeros = torch.zeros(batch, self.before + self.ahead, dtype=torch.int64, device=self.device)
        count = torch.zeros(batch, 1, dtype=torch.int64, device=self.device)
        return zeros, count, *(torch.zeros_like(tensor) for tensor in self.lstms.initial_state(batch))
