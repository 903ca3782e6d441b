"""TA-Encoder: the second stage of Tilk & Alumäe 2015, section 2.3, on the vectors of a fine-tuned encoder.

h(t) is the input of the text model's output layer at the last piece before slot t, and p(t) is the pause in the slot:

    LSTM       y(t) = LSTM([h(t), p(t)]);  ŷ(t) = softmax(W y(t) + b + c(p(t)))
    linear     ŷ(t) = softmax(W h(t) + b + c(p(t)))

The text model is frozen. c is a lookup table with one vector for each class of durations (layers.pauses). This table is
not in the paper, but without it, the linear stage would not read the pause. The LSTM also has an input that is 1 if the
pause is unknown.
"""

from typing import Any, cast

import torch
from torch import Tensor, nn

from punc.base.errors import check_choice
from punc.layers.lstm import PeepholeLSTM
from punc.layers.pauses import PauseInput, PauseVectors
from punc.models.base import NeuralModel, State, initialize, submodel

STAGES = ("lstm", "linear")


class Model(NeuralModel):
    """TA-Encoder-p. Without `pauses`, it is TA-Encoder.

    text_model    directory of an encoder that was trained with the vocabulary of the store
    stage         lstm or linear
    hidden_dim    number of LSTM blocks
    pauses        read the pause of the slot
    init_range    initial weights of the LSTM are drawn uniformly between minus this value and this value
    """

    token_types = ("encoder",)

    def __init__(self, vocab: int, labels: int, text_model: str | dict[str, Any] = "", stage: str = "lstm",
                 hidden_dim: int = 100, pauses: bool = True, init_range: float = 0.05):
        super().__init__()
        check_choice(STAGES, stage=stage)
        self.text = cast(Any, submodel("text_model", text_model, "encoder"))
        self.submodels = {"text_model": self.text}
        size = self.text.output.in_features
        self.lstm, self.pauses = None, None
        if stage == "lstm":
            self.pauses = PauseInput(unknown_flag=True) if pauses else None
            self.lstm = PeepholeLSTM(size + (self.pauses.size if self.pauses else 0), hidden_dim, biases=True)
            initialize(self.lstm, init_range)
        self.output = nn.Linear(hidden_dim if self.lstm else size, labels)
        self.pause_output = PauseVectors(labels) if pauses else None

    def train(self, mode: bool = True) -> "Model":
        super().train(mode)
        self.text.eval()  # the text model stays frozen, so it has no dropout
        return self

    def forward(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        with torch.no_grad():
            features = self.text.features(tokens, pauses)  # (B, T, H)
        if self.lstm:
            inputs = features.transpose(0, 1)
            if self.pauses:
                inputs = torch.cat([inputs, self.pauses(pauses, tokens)], dim=2)
            features = self.lstm(inputs, self.lstm.initial_state(len(tokens)))[0].transpose(0, 1)
        logits = self.output(features)
        return (logits + self.pause_output(pauses, tokens) if self.pause_output else logits), ()
