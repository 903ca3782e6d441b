"""LSTM layers (Hochreiter & Schmidhuber 1997, with the forget gates of Gers et al. 2000) and dropout around them.

    i, f, g, o = W x(t) + a + U h(t−1) + b
    c(t) = σ(f) c(t−1) + σ(i) tanh(g)
    h(t) = σ(o) tanh(c(t))

As in Zaremba et al. 2014, "Recurrent Neural Network Regularization", dropout applies to the input of the first layer
and to the output of each layer, but not to the state that is passed from step to step. The layers are PyTorch's. They
have no peepholes, but they are fast on a CPU, because one call of oneDNN computes all steps of a layer.
"""

import torch
from torch import Tensor, nn

from punc.base.errors import InputError, check_at_least, check_probability
from punc.tokens.vocabulary import END

State = tuple[Tensor, Tensor]  # h, c: (layers, B, H) each
FORGET = 1  # the index of the forget gate; PyTorch's order is input, forget, cell, output


def with_ends(tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Append END to the tokens (B, T) of complete texts. Returns (B, T + 1) and the lengths (B,) of the texts without
    END."""
    line = nn.functional.pad(tokens, (0, 1), value=END)
    steps = torch.arange(1, line.shape[1] + 1, device=line.device)
    return line, ((line != END) * steps).amax(dim=1)


def embedding_of(vocab: int, size: int, std: float) -> nn.Embedding:
    """Return an embedding with sparse gradients, initialized from a normal distribution with standard deviation
    `std`."""
    embedding = nn.Embedding(vocab, size, sparse=True)
    if std != 1.0:  # PyTorch has already initialized the embedding with std 1
        nn.init.normal_(embedding.weight, std=std)
    return embedding


class Dropout(nn.Dropout):
    """PyTorch's dropout, but faster on a CPU: one 64-bit random number serves four units there, so the rate is rounded
    to a multiple of 2^−16."""

    def __init__(self, rate: float):
        check_probability(dropout=rate)
        super().__init__(rate)

    def forward(self, inputs: Tensor) -> Tensor:
        if not self.training or not self.p:
            return inputs
        if inputs.device.type != "cpu":
            return super().forward(inputs)
        count = inputs.numel()
        numbers = torch.empty((count + 3) // 4, dtype=torch.int64, device=inputs.device).random_(-2**63, None)
        kept = numbers.view(torch.int16)[:count].view(inputs.shape) >= min(round(self.p * 2**16), 2**16 - 1) - 2**15
        return inputs * kept.to(inputs.dtype).mul_(1 / (1 - self.p))


class LSTMStack(nn.Module):
    """A stack of unidirectional LSTM layers, with dropout at `rate` before, between and after the layers."""

    def __init__(self, input_dim: int, hidden_dim: int, layers: int, rate: float):
        super().__init__()
        self.dropout = Dropout(rate)
        check_at_least(1, hidden_dim=hidden_dim, layers=layers)
        self.lstm = nn.LSTM(input_dim, hidden_dim, layers, dropout=rate if layers > 1 else 0.0, batch_first=True)

    def initial_state(self, batch: int) -> State:
        """Return zeros for h and c, (layers, batch, H) each."""
        zeros = self.lstm.all_weights[0][1].new_zeros(self.lstm.num_layers, batch, self.lstm.hidden_size)
        return zeros, zeros

    def forward(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """Map inputs (B, T, D) and the state (h, c) to outputs (B, T, H) and the new state. T may be 0."""
        if not inputs.shape[1]:
            return inputs.new_zeros(len(inputs), 0, self.lstm.hidden_size), state
        outputs, state = self.lstm(self.dropout(inputs), state)
        return self.dropout(outputs), state


class BidirectionalStack(nn.Module):
    """Like LSTMStack, but bidirectional: each layer reads the outputs of both directions of the layer below. For the
    backward direction, each text of a padded batch is reversed separately. PyTorch's packed sequences would do this
    too, but training with them takes 1.8 times as long (100 texts of 80 steps, 200 units)."""

    def __init__(self, input_dim: int, hidden_dim: int, layers: int, rate: float):
        super().__init__()
        self.dropout = Dropout(rate)
        check_at_least(1, hidden_dim=hidden_dim, layers=layers)
        sizes = [input_dim] + [2 * hidden_dim] * (layers - 1)
        self.forwards = nn.ModuleList(nn.LSTM(size, hidden_dim, batch_first=True) for size in sizes)
        self.backwards = nn.ModuleList(nn.LSTM(size, hidden_dim, batch_first=True) for size in sizes)

    def forward(self, inputs: Tensor, lengths: Tensor) -> Tensor:
        """Map inputs (B, T, D) of texts with `lengths` (B,) to (B, T, 2H). Outputs past a text's end are arbitrary."""
        steps = torch.arange(inputs.shape[1], device=inputs.device)
        ends = lengths.unsqueeze(1)
        reversed_steps = torch.where(steps < ends, ends - 1 - steps, steps)  # (B, T), its own inverse permutation
        rows = torch.arange(inputs.shape[0], device=inputs.device).unsqueeze(1)
        for ahead, back in zip(self.forwards, self.backwards):
            inputs = self.dropout(inputs)
            inputs = torch.cat([ahead(inputs)[0], back(inputs[rows, reversed_steps])[0][rows, reversed_steps]], dim=2)
        return self.dropout(inputs)


@torch.no_grad()
def make_orthogonal(net: nn.Module) -> None:
    """Initialize the gates of a model's nn.LSTM layers with the default initializers of Keras. Raises InputError if the
    model has no such layers.

        U of each gate   orthogonal (Saxe et al. 2014)
        W of each gate   uniform in ±√(6 / (inputs + units)) (Glorot & Bengio 2010)
        biases           1 for the forget gate (Jozefowicz et al. 2015), 0 for the other gates

    PyTorch's default initial weights are uniform in ±1/√units. With these, three layers pass on hardly any signal at
    first.
    """
    layers = [module for module in net.modules() if isinstance(module, nn.LSTM)]
    if not layers:
        raise InputError("--lstm-weights=orthogonal, but this model has none of PyTorch's LSTM layers", "leave it out")
    for layer in layers:
        for name, weights in layer.named_parameters():
            gates = weights.chunk(4)
            if name.startswith("bias"):
                weights.zero_()
                gates[FORGET].fill_(float(name.startswith("bias_ih")))
                continue
            initialize = nn.init.orthogonal_ if name.startswith("weight_hh") else nn.init.xavier_uniform_
            for gate in gates:
                initialize(gate)
