"""What models share that see some tokens around each step and run LSTMs forward over that, so that text can stream.

At step t a model needs the tokens t − before … t + ahead: its look-ahead is `ahead`, and what it carries, beside the
LSTMs' state, is the last before + ahead tokens. Outside the text there is END, which is the <NULL> of Gale &
Parthasarathy 2017 too. In the first `ahead` steps of a stream, which only read tokens, the LSTMs stand still: they
begin with the text's first token, as if the whole text were there at once.
"""

from collections import deque
from itertools import repeat

import numpy as np
import torch
from torch import Tensor, nn

from punc.tokens.store import END

State = tuple[Tensor, Tensor, Tensor]  # tokens (B, before … before + ahead), h, c


def end_to_end(vectors: Tensor, size: int) -> Tensor:
    """Vectors (B, T + size − 1, D) → at each step `size` of them from there on in one, (B, T, size · D)."""
    return vectors.unfold(1, size, 1).transpose(2, 3).flatten(2)


class ContextModel:
    """Beside `punc.models.base.Neural`: a model is `Model(ContextModel, Neural)`.

    A model sets itself up with `read_context`, has `lstms` (an LSTMStack) and `output` (a linear layer), and has
    `features`: tokens (B, before + T + ahead) → (B, T, D), what the LSTMs read.
    """

    def read_context(self, before: int, ahead: int) -> None:
        """Take how many tokens a step sees before its own, and after it."""
        self.before, self.lookahead = before, ahead

    def initial_state(self, batch: int) -> State:
        return torch.full((batch, self.before), END), *self.lstms.initial_state(batch)

    def forward(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        kept, *lstm_state = state
        line = torch.cat([kept, tokens], dim=1)
        around = self.before + self.lookahead
        steps = max(0, line.shape[1] - around)  # less than T only where a stream begins
        if steps:
            hidden, lstm_state = self.lstms(self.features(line), tuple(lstm_state))
        else:
            hidden = self.output.weight.new_zeros(len(line), 0, self.output.in_features)
        hidden = nn.functional.pad(hidden, (0, 0, tokens.shape[1] - steps, 0))
        return self.output(hidden), (line[:, max(0, line.shape[1] - around):], *lstm_state)

    def stepper(self) -> "Stepper":
        return Stepper(self)


class Stepper:
    """A ContextModel one token at a time for one stream."""

    def __init__(self, model: ContextModel):
        self.features, self.lstms = model.features, model.lstms.stepper()
        self.weight, self.bias = model.output.weight.detach().numpy(), model.output.bias.detach().numpy()
        around = model.before + 1 + model.lookahead
        self.line = deque(repeat(END, model.before), maxlen=around)

    def step(self, token: int, pause: float) -> np.ndarray:
        """The token that comes next → the logits (L,) of the slot decided now; the bias where there is none yet."""
        self.line.append(token)
        if len(self.line) < self.line.maxlen:
            return self.bias.copy()
        with torch.inference_mode():
            features = self.features(torch.tensor([list(self.line)]))[0, 0].numpy()
        return self.weight @ self.lstms.step(self.lstms.project(features)) + self.bias
