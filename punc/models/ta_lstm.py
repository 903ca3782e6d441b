"""TA-LSTM and TA-LSTM-p: the second stage of Tilk & Alumäe 2015, section 2.3.

The inputs are the output y1 of the last hidden layer of a trained T-LSTM, whose weights are frozen, and the pause p(t):

    x1(t) = [y1(t), p(t)]           TA-LSTM omits p(t)
    y3(t) = LSTM(x1(t))
    y4(t) = softmax(W4 y3(t))
"""

from typing import Any, cast

import torch
from torch import Tensor, nn

from punc.layers.lstm import PeepholeLSTM
from punc.layers.pauses import PauseInput
from punc.models.base import NeuralModel, State, initialize, submodel


class Model(NeuralModel):
    """TA-LSTM-p. Without `pauses`, it is TA-LSTM.

    text_model    directory of a T-LSTM with the vocabulary of the store
    hidden_dim    number of LSTM blocks
    pauses        read the pause of the slot
    init_range    initial weights are drawn uniformly between minus this value and this value
    biases        the LSTM of this stage has biases (the paper omits them)
    speaker_changes  read whether the speaker changes in the slot, if the data has turns (not in the paper)
    """

    lookahead = 1

    def __init__(self, vocab: int, labels: int, text_model: str | dict[str, Any] = "", hidden_dim: int = 100,
                 pauses: bool = True, init_range: float = 0.005, biases: bool = False, speaker_changes: bool = False):
        super().__init__()
        self.text = cast(Any, submodel("text_model", text_model, "t_lstm"))
        self.submodels = {"text_model": self.text}
        self.pauses = PauseInput(pauses, speaker_changes) if pauses or speaker_changes else None
        self.reads_pauses = pauses
        self.reads_turns = speaker_changes or self.text.reads_turns
        inputs = self.text.lstm.hidden_dim + (self.pauses.size if self.pauses else 0)
        self.lstm = PeepholeLSTM(inputs, hidden_dim, biases)
        self.output = nn.Linear(hidden_dim, labels, bias=False)  # W4
        initialize(self, init_range)

    def initial_state(self, batch: int) -> State:
        return (*self.text.initial_state(batch), *self.lstm.initial_state(batch))

    def forward(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        with torch.no_grad():
            features, text_state = self.text.hidden(tokens, pauses, state[:2])  # y1 (T, B, H1)
        if self.pauses:
            features = torch.cat([features, self.pauses(pauses, tokens)], dim=2)
        hidden, state = self.lstm(features, state[2:])
        return self.output(hidden).transpose(0, 1), (*text_state, *state)

    def traceable(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        text_state = self.text.one_step(tokens, pauses, state[:2])
        features = text_state[0]
        if self.pauses:
            features = torch.cat([features, self.pauses(pauses, tokens)[0]], dim=1)
        hidden, cell = self.lstm.one_step(features @ self.lstm.input_weight, state[2:])
        return self.output(hidden).unsqueeze(1), (*text_state, hidden, cell)
