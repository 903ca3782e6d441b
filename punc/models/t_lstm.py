"""T-LSTM and T-LSTM-p: Tilk & Alumäe 2015, "LSTM for Punctuation Restoration in Speech Transcripts".

In section 2.3, x0(t) is the one-hot vector of the word after slot t, and p(t) is the pause in the slot:

    y0(t) = tanh(W0 x0(t))
    y1(t) = LSTM(y0(t))             T-LSTM-p (section 3): LSTM([y0(t), p(t)])
    y2(t) = softmax(W2 y1(t))

The LSTM has forget gates and peepholes. By default, it has no biases, because they "brought no noticeable improvement"
in the paper.
"""

import torch
from torch import Tensor, nn

from punc.layers.lstm import PeepholeLSTM
from punc.layers.pauses import PauseInput
from punc.models.base import NeuralModel, State, initialize


class Model(NeuralModel):
    """T-LSTM. With `pauses`, it is T-LSTM-p.

    embedding_dim    units of the tanh layer
    hidden_dim       number of LSTM blocks
    pauses           read the pause of the slot
    init_range       initial weights are drawn uniformly between minus this value and this value
    biases           the LSTM has biases (the paper omits them)
    speaker_changes  read whether the speaker changes in the slot, if the data has turns (not in the paper)
    """

    lookahead = 1

    def __init__(self, vocab: int, labels: int, embedding_dim: int = 100, hidden_dim: int = 100,
                 pauses: bool = False, init_range: float = 0.005, biases: bool = False, speaker_changes: bool = False):
        super().__init__()
        self.embedding = nn.Embedding(vocab, embedding_dim, sparse=True)  # W0
        self.pauses = PauseInput(pauses, speaker_changes) if pauses or speaker_changes else None
        self.reads_pauses, self.reads_turns = pauses, speaker_changes
        self.lstm = PeepholeLSTM(embedding_dim + (self.pauses.size if self.pauses else 0), hidden_dim, biases)
        self.output = nn.Linear(hidden_dim, labels, bias=False)  # W2
        initialize(self, init_range)

    def initial_state(self, batch: int) -> State:
        return self.lstm.initial_state(batch)

    def forward(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        hidden, state = self.hidden(tokens, pauses, state)  # (T, B, H)
        return self.output(hidden).transpose(0, 1), state

    def hidden(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        """Return the output y1 (T, B, H) of the last hidden layer, which a second stage (`ta_lstm`) also reads, and the
        new state."""
        # Each distinct word of a batch is embedded and projected only once, and has one row of gradients.
        words, indices = tokens.t().unique(return_inverse=True)  # (U,), (T, B)
        size = self.embedding.embedding_dim
        word_weight = self.lstm.input_weight[:size]
        pause_weight = self.lstm.input_weight[size:]
        projected = self.embedding(words).tanh() @ word_weight  # (U, 4H)
        gate_inputs = nn.functional.embedding(indices, projected)  # (T, B, 4H)
        if self.pauses:
            gate_inputs = gate_inputs + self.pauses(pauses, tokens) @ pause_weight
        return self.lstm.recur(gate_inputs, state)

    def traceable(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, State]:
        state = self.one_step(tokens, pauses, state)
        return self.output(state[0]).unsqueeze(1), state

    def one_step(self, tokens: Tensor, pauses: Tensor | None, state: State) -> tuple[Tensor, Tensor]:
        """Compute one step for tokens (B, 1), like `traceable`. Returns the new state: h = y1 and c, (B, H) each."""
        inputs = self.embedding(tokens[:, 0]).tanh()
        if self.pauses:
            inputs = torch.cat([inputs, self.pauses(pauses, tokens)[0]], dim=1)
        return self.lstm.one_step(inputs @ self.lstm.input_weight, state)
