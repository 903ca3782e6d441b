"""The recurrence of the peephole LSTM (layers.lstm) as a loop of PyTorch operations: the form for any device and type.

Only what depends on the previous step is computed step by step. tanh(a) is computed as 2σ(2a) − 1: PyTorch's vectorized
σ takes a tenth of the time of its tanh.
"""

from typing import NamedTuple

import torch
from torch import Tensor


class Steps(NamedTuple):
    """What the forward recurrence over T steps computes.

    gates     (T, B, 4H), i, f, g and o after σ and tanh
    hiddens   (T + 1, B, H), h before the first step and after each step
    cells     (T + 1, B, H), c likewise
    squashed  (T, B, H), tanh(c) after each step
    """

    gates: Tensor
    hiddens: Tensor
    cells: Tensor
    squashed: Tensor


def empty_steps(gate_inputs: Tensor, hidden: Tensor, cell: Tensor) -> Steps:
    """Room for the steps of inputs (T, B, 4H) after the state h, c (B, H) twice, with that state in it."""
    steps, batch, width = gate_inputs.shape
    size = width // 4
    made = Steps(gate_inputs.new_empty(steps, batch, width), gate_inputs.new_empty(steps + 1, batch, size),
                 gate_inputs.new_empty(steps + 1, batch, size), gate_inputs.new_empty(steps, batch, size))
    made.hiddens[0], made.cells[0] = hidden, cell
    return made


def forward(gate_inputs: Tensor, weight: Tensor, peepholes: Tensor, hidden: Tensor, cell: Tensor) -> Steps:
    """Gate inputs W x (T, B, 4H), weight (H, 4H), peepholes (3, H) and the state (B, H) twice → the steps."""
    batch, width = gate_inputs.shape[1:]
    size = width // 4
    made = empty_steps(gate_inputs, hidden, cell)
    twice = gate_inputs.new_ones(width)
    twice[2 * size:3 * size] = 2.0
    weight2 = weight * twice
    inputs2 = gate_inputs * twice
    in_forget, out = peepholes[:2], peepholes[2]
    for t, (gate, before, after, squash) in enumerate(zip(made.gates, made.cells, made.cells[1:], made.squashed)):
        i, f, g, o = gate.split(size, dim=1)
        torch.addmm(inputs2[t], made.hiddens[t], weight2, out=gate)
        gate[:, :2 * size].view(batch, 2, size).addcmul_(before.unsqueeze(1), in_forget)
        gate[:, :3 * size].sigmoid_()
        g.mul_(2).sub_(1)
        torch.mul(f, before, out=after).addcmul_(i, g)
        o.addcmul_(after, out).sigmoid_()
        torch.mul(after, 2, out=squash).sigmoid_().mul_(2).sub_(1)
        torch.mul(o, squash, out=made.hiddens[t + 1])
    return made


def backward(grad_outputs: Tensor, grad_cell: Tensor, made: Steps, weight: Tensor,
             peepholes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of h (T, B, H) of all steps and of the last c (B, H) → those of what `forward` read.

    These are the gradients of the gates before σ and tanh (T, B, 4H), of the first h and of the first c.
    """
    gates, _, cells, squashed = made
    steps, _, width = gates.shape
    size = width // 4
    grads = torch.empty_like(gates)
    grad_hidden, grad_cell = grad_outputs[-1].clone(), grad_cell.clone()
    scratch, transposed = torch.empty_like(grad_cell), weight.t()
    in_peephole, forget_peephole, out_peephole = peepholes
    sigmoid_backward, tanh_backward = torch.ops.aten.sigmoid_backward, torch.ops.aten.tanh_backward
    for t in range(steps - 1, -1, -1):
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
    return grads, grad_hidden, grad_cell
