"""The LSTM with forget gates and peepholes of Sak, Senior & Beaufays 2014, equations (1)-(6).

    i(t) = σ(W_ix x(t) + W_ih h(t−1) + p_i c(t−1))
    f(t) = σ(W_fx x(t) + W_fh h(t−1) + p_f c(t−1))
    g(t) = tanh(W_gx x(t) + W_gh h(t−1))
    c(t) = f(t) c(t−1) + i(t) g(t)
    o(t) = σ(W_ox x(t) + W_oh h(t−1) + p_o c(t))
    h(t) = o(t) tanh(c(t))

The paper's equations also have biases, which are optional here.

torch.nn.LSTM has no peepholes. The recurrence over all steps is a single autograd function, because with 100 units, a
loop of autograd operations would spend more time on bookkeeping than on arithmetic. tanh(a) is computed as 2σ(2a) − 1,
which takes a tenth of the time of PyTorch's tanh.
"""

from typing import Any

import torch
from torch import Tensor, nn

State = tuple[Tensor, Tensor]  # h, c: (B, H) each


class PeepholeLSTM(nn.Module):
    """A layer of `hidden_dim` LSTM units with peepholes. The columns of the weights are ordered by gate: i, f, g, o."""

    def __init__(self, input_dim: int, hidden_dim: int, biases: bool = False):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.input_weight = nn.Parameter(torch.empty(input_dim, 4 * hidden_dim))
        self.hidden_weight = nn.Parameter(torch.empty(hidden_dim, 4 * hidden_dim))
        self.peepholes = nn.Parameter(torch.empty(3, hidden_dim))  # p_i, p_f, p_o
        self.bias = nn.Parameter(torch.zeros(4 * hidden_dim)) if biases else None

    def initial_state(self, batch: int) -> State:
        """Return zeros for h and c, (batch, H) each."""
        zeros = self.hidden_weight.new_zeros(batch, self.hidden_dim)
        return zeros, zeros

    def forward(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """Map inputs (T, B, D) and the state (h, c) to outputs (T, B, H) and the state after the last step."""
        return self.recur((inputs.flatten(0, 1) @ self.input_weight).view(*inputs.shape[:2], -1), state)

    def recur(self, gate_inputs: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, State]:
        """Return the same as `forward`, given inputs (T, B, 4H) that are already multiplied by `input_weight`."""
        if self.bias is not None:
            gate_inputs = gate_inputs + self.bias
        outputs, cell = _Recurrence.apply(gate_inputs, self.hidden_weight, self.peepholes, *state)
        return outputs, (outputs[-1], cell)

    def one_step(self, gate_inputs: Tensor, state: tuple[Tensor, ...]) -> State:
        """Compute one step from gate inputs (B, 4H), with operations that can be exported. Returns the new (h, c)."""
        hidden, cell = state
        i, f, g, o = (gate_inputs + hidden @ self.hidden_weight).chunk(4, dim=1)
        if self.bias is not None:
            bias_i, bias_f, bias_g, bias_o = self.bias.chunk(4)
            i, f, g, o = i + bias_i, f + bias_f, g + bias_g, o + bias_o
        in_peephole, forget_peephole, out_peephole = self.peepholes
        i = torch.sigmoid(i + in_peephole * cell)
        f = torch.sigmoid(f + forget_peephole * cell)
        cell = f * cell + i * g.tanh()
        return torch.sigmoid(o + out_peephole * cell) * cell.tanh(), cell


class _Recurrence(torch.autograd.Function):
    """The recurrence over T steps, in float32 even under autocast."""

    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda", cast_inputs=torch.float32)
    @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx: Any, gate_inputs: Tensor, weight: Tensor, peepholes: Tensor, hidden: Tensor,
                cell: Tensor) -> tuple[Tensor, Tensor]:
        """Return h (T, B, H) of all steps and c (B, H) of the last step. `gate_inputs` (T, B, 4H) are W x, plus the
        biases if there are any."""
        steps, batch, width = gate_inputs.shape
        size = width // 4
        gates = gate_inputs.new_empty(steps, batch, width)  # i, f, g and o after σ and tanh
        squashed = gate_inputs.new_empty(steps, batch, size)  # tanh(c) after each step
        hiddens, cells = (gate_inputs.new_empty(steps + 1, batch, size) for _ in range(2))  # h and c from t = 0 on
        hiddens[0], cells[0] = hidden, cell
        twice = gate_inputs.new_ones(width)
        twice[2 * size:3 * size] = 2.0
        weight2 = weight * twice
        inputs2 = gate_inputs * twice
        in_forget, out = peepholes[:2], peepholes[2]
        for t, (gate, before, after, squash) in enumerate(zip(gates, cells, cells[1:], squashed)):
            i, f, g, o = gate.split(size, dim=1)
            torch.addmm(inputs2[t], hiddens[t], weight2, out=gate)
            gate[:, :2 * size].view(batch, 2, size).addcmul_(before.unsqueeze(1), in_forget)
            gate[:, :3 * size].sigmoid_()
            g.mul_(2).sub_(1)
            torch.mul(f, before, out=after).addcmul_(i, g)
            o.addcmul_(after, out).sigmoid_()
            torch.mul(after, 2, out=squash).sigmoid_().mul_(2).sub_(1)
            torch.mul(o, squash, out=hiddens[t + 1])
        ctx.save_for_backward(gates, hiddens, cells, squashed, weight, peepholes)
        return hiddens[1:], cells[-1]

    @staticmethod
    @torch.amp.custom_bwd(device_type="cuda")
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx: Any, grad_outputs: Tensor, grad_cell: Tensor) -> tuple[Tensor, ...]:
        """Map the gradients of both results of `forward` to the gradients of its arguments."""
        gates, hiddens, cells, squashed, weight, peepholes = ctx.saved_tensors
        size = len(weight)
        grads = torch.empty_like(gates)  # gradients with respect to the gates before σ and tanh
        grad_hidden, grad_cell = grad_outputs[-1].clone(), grad_cell.clone()
        scratch, transposed = torch.empty_like(grad_cell), weight.t()
        in_peephole, forget_peephole, out_peephole = peepholes
        sigmoid_backward = torch.ops.aten.sigmoid_backward
        tanh_backward = torch.ops.aten.tanh_backward
        for t in range(len(gates) - 1, -1, -1):
            i, f, g, o = gates[t].split(size, dim=1)
            grad_i, grad_f, grad_g, grad_o = grads[t].split(size, dim=1)
            torch.mul(grad_hidden, squashed[t], out=scratch)
            sigmoid_backward(scratch, o, grad_input=grad_o)
            grad_hidden.mul_(o)
            tanh_backward(grad_hidden, squashed[t], grad_input=scratch)
            grad_cell.add_(scratch).addcmul_(grad_o, out_peephole)
            torch.mul(grad_cell, g, out=scratch)
            sigmoid_backward(scratch, i, grad_input=grad_i)
            torch.mul(grad_cell, cells[t], out=scratch)
            sigmoid_backward(scratch, f, grad_input=grad_f)
            torch.mul(grad_cell, i, out=scratch)
            tanh_backward(scratch, g, grad_input=grad_g)
            grad_cell.mul_(f).addcmul_(grad_i, in_peephole).addcmul_(grad_f, forget_peephole)
            if t:
                torch.addmm(grad_outputs[t - 1], grads[t], transposed, out=grad_hidden)
            else:
                torch.mm(grads[t], transposed, out=grad_hidden)
        grad_weight = hiddens[:-1].flatten(0, 1).t() @ grads.flatten(0, 1)
        in_forget = (grads[..., :2 * size].unflatten(-1, (2, size)) * cells[:-1].unsqueeze(2)).sum((0, 1))
        grad_peepholes = torch.cat([in_forget, (grads[..., 3 * size:] * cells[1:]).sum((0, 1))[None]])
        return grads, grad_weight, grad_peepholes, grad_hidden, grad_cell
