"""The LSTM with forget gates and peepholes of Sak, Senior & Beaufays 2014, equations (1)-(6).

    i(t) = σ(W_ix x(t) + W_ih h(t−1) + p_i c(t−1))
    f(t) = σ(W_fx x(t) + W_fh h(t−1) + p_f c(t−1))
    g(t) = tanh(W_gx x(t) + W_gh h(t−1))
    c(t) = f(t) c(t−1) + i(t) g(t)
    o(t) = σ(W_ox x(t) + W_oh h(t−1) + p_o c(t))
    h(t) = o(t) tanh(c(t))

Tilk & Alumäe 2015 omit the paper's biases b_i, b_f, b_g and b_o, because they "brought no noticeable improvement". Here
they are an option.

torch.nn.LSTM has no peepholes. At 100 units, a loop of autograd operations spends more time on bookkeeping than on
arithmetic. So the recurrence is one autograd function with a gradient of its own. It has two forms: a loop of PyTorch
operations (layers.lstm_loop), and Triton kernels (layers.lstm_triton) for a GPU.
"""

from copy import copy
from functools import cache
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from punc.layers import lstm_loop

State = tuple[Tensor, Tensor]  # h, c: (B, H) each


class PeepholeLSTM(nn.Module):
    """A layer of `hidden_dim` peephole LSTM blocks.

    The columns of the weights are the gates, in the order i, f, g, o.

    biases   add a learned bias to each gate
    """

    def __init__(self, input_dim: int, hidden_dim: int, biases: bool = False):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.input_weight = nn.Parameter(torch.empty(input_dim, 4 * hidden_dim))
        self.hidden_weight = nn.Parameter(torch.empty(hidden_dim, 4 * hidden_dim))
        self.peepholes = nn.Parameter(torch.empty(3, hidden_dim))  # of i, f, o
        self.bias = nn.Parameter(torch.zeros(4 * hidden_dim)) if biases else None

    def initial_state(self, batch: int) -> State:
        """Zeros, (batch, H) twice."""
        zeros = self.hidden_weight.new_zeros(batch, self.hidden_dim)
        return zeros, zeros

    def forward(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """(T, B, D), (h, c) → outputs (T, B, H), (h, c) after the last step."""
        return self.recur((inputs.flatten(0, 1) @ self.input_weight).view(*inputs.shape[:2], -1), state)

    def recur(self, gate_inputs: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, State]:
        """As `forward`, for inputs (T, B, 4H) that are already multiplied by `input_weight`."""
        if self.bias is not None:
            gate_inputs = gate_inputs + self.bias
        outputs, cell = _Recurrence.apply(gate_inputs, self.hidden_weight, self.peepholes, *state)
        return outputs, (outputs[-1], cell)

    def one_step(self, gate_inputs: Tensor, state: tuple[Tensor, ...]) -> State:
        """One step in plain operations, for exporters: gate inputs (B, 4H), (h, c) → (h, c)."""
        hidden, cell = state
        i, f, g, o = (gate_inputs + hidden @ self.hidden_weight).chunk(4, dim=1)
        if self.bias is not None:
            bias_i, bias_f, bias_g, bias_o = self.bias.chunk(4)
            i, f, g, o = i + bias_i, f + bias_f, g + bias_g, o + bias_o
        in_peephole, forget_peephole, out_peephole = self.peepholes
        i, f = torch.sigmoid(i + in_peephole * cell), torch.sigmoid(f + forget_peephole * cell)
        cell = f * cell + i * g.tanh()
        return torch.sigmoid(o + out_peephole * cell) * cell.tanh(), cell

    def stepper(self) -> "Stepper":
        """The layer for one stream, one step at a time."""
        return Stepper(self)


class _Recurrence(torch.autograd.Function):
    """The recurrence over T steps, in float32 under autocast too."""

    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda", cast_inputs=torch.float32)
    @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx: Any, gate_inputs: Tensor, weight: Tensor, peepholes: Tensor, hidden: Tensor,
                cell: Tensor) -> tuple[Tensor, Tensor]:
        ctx.form = _fastest_form(gate_inputs)
        made = ctx.form.forward(gate_inputs, weight, peepholes, hidden, cell)
        ctx.save_for_backward(*made, weight, peepholes)
        return made.hiddens[1:], made.cells[-1]

    @staticmethod
    @torch.amp.custom_bwd(device_type="cuda")
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx: Any, grad_outputs: Tensor, grad_cell: Tensor) -> tuple[Tensor, ...]:
        *made, weight, peepholes = ctx.saved_tensors
        _, hiddens, cells, _ = made = lstm_loop.Steps(*made)
        size = len(weight)
        grads, grad_hidden, grad_cell = ctx.form.backward(grad_outputs, grad_cell, made, weight, peepholes)
        flat = grads.flatten(0, 1)
        grad_weight = hiddens[:-1].flatten(0, 1).t() @ flat
        in_forget = (grads[..., :2 * size].unflatten(-1, (2, size)) * cells[:-1].unsqueeze(2)).sum((0, 1))
        grad_peepholes = torch.cat([in_forget, (grads[..., 3 * size:] * cells[1:]).sum((0, 1))[None]])
        return grads, grad_weight, grad_peepholes, grad_hidden, grad_cell


def _fastest_form(gate_inputs: Tensor) -> ModuleType:
    """The module that computes the recurrence of these inputs (T, B, 4H)."""
    if gate_inputs.device.type == "cuda" and _has_triton():
        from punc.layers import lstm_triton
        if lstm_triton.fits(gate_inputs):
            return lstm_triton
    return lstm_loop


@cache
def _has_triton() -> bool:
    """Whether Triton is installed. PyTorch's CUDA builds for Linux bring it."""
    return find_spec("triton") is not None


class Stepper:
    """A PeepholeLSTM for one stream, one step at a time, in NumPy.

    With a batch of one, the overhead of calls dominates, and a NumPy call costs half as much as a PyTorch call.
    """

    def __init__(self, layer: PeepholeLSTM):
        size = self.size = layer.hidden_dim
        # σ(a) = (1 + tanh(a/2)) / 2, so one tanh serves all gates; the weights absorb the ½.
        halves = np.full(4 * size, 0.5, np.float32)
        halves[2 * size:3 * size] = 1.0
        self.input_weight = layer.input_weight.detach().numpy() * halves
        self.hidden_weight = layer.hidden_weight.detach().numpy() * halves
        peepholes = 0.5 * layer.peepholes.detach().numpy()
        self.in_forget, self.out = peepholes[:2].reshape(-1), peepholes[2]
        self.bias = None if layer.bias is None else layer.bias.detach().numpy() * halves
        self.reset()

    def reset(self) -> None:
        """Start a stream: set the state to zeros."""
        self.hidden, self.cell = np.zeros(self.size, np.float32), np.zeros(self.size, np.float32)
        self.twice_cell = np.zeros(2 * self.size, np.float32)

    def copy(self) -> "Stepper":
        """Another stream in the same state; a step of one does not change the other."""
        other = copy(self)
        other.hidden, other.cell, other.twice_cell = self.hidden.copy(), self.cell.copy(), self.twice_cell.copy()
        return other

    def project(self, inputs: np.ndarray) -> np.ndarray:
        """Inputs (D,) → (4H,), the argument of `step`."""
        return inputs @ self.input_weight

    def step(self, gate_inputs: np.ndarray) -> np.ndarray:
        """Projected inputs (4H,) → output (H,), a view that the next step overwrites."""
        size = self.size
        gates = np.dot(self.hidden, self.hidden_weight)
        gates += gate_inputs
        if self.bias is not None:
            gates += self.bias
        self.twice_cell[:size] = self.twice_cell[size:] = self.cell
        gates[:2 * size] += self.in_forget * self.twice_cell
        squashed = np.tanh(gates[:3 * size])
        squashed[:2 * size] += 1.0
        squashed[:2 * size] *= 0.5
        self.cell *= squashed[size:2 * size]
        self.cell += squashed[:size] * squashed[2 * size:]
        out = np.tanh(gates[3 * size:] + self.out * self.cell)
        out += 1.0
        out *= 0.5
        self.hidden = np.multiply(out, np.tanh(self.cell), out=out)
        return self.hidden
