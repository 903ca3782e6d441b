"""The recurrence as a loop: what it keeps of the steps, and its gradients. test_lstm compares it with the equations."""

import pytest
import torch

from punc.layers import lstm_loop

torch.set_num_threads(1)


def inputs(steps, batch, size):
    torch.manual_seed(2)
    shapes = (steps, batch, 4 * size), (size, 4 * size), (3, size), (batch, size), (batch, size)
    return [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]


def test_empty_steps_begin_with_the_state():
    hidden, cell = torch.rand(2, 3), torch.rand(2, 3)
    made = lstm_loop.empty_steps(torch.rand(5, 2, 12), hidden, cell)
    assert [tuple(part.shape) for part in made] == [(5, 2, 12), (6, 2, 3), (6, 2, 3), (5, 2, 3)]
    assert torch.equal(made.hiddens[0], hidden)
    assert torch.equal(made.cells[0], cell)


@pytest.mark.parametrize(("steps", "batch", "size"), [(1, 1, 1), (4, 3, 2)])
def test_backward_matches_autograd(steps, batch, size):
    given = inputs(steps, batch, size)
    before = [tensor.detach().clone() for tensor in given]
    gate_inputs, weight, peepholes, hidden, cell = given
    outputs = []
    for x in gate_inputs:
        i, f, g, o = (x + hidden @ weight).chunk(4, dim=1)
        i, f = (i + peepholes[0] * cell).sigmoid(), (f + peepholes[1] * cell).sigmoid()
        cell = f * cell + i * g.tanh()
        hidden = (o + peepholes[2] * cell).sigmoid() * cell.tanh()
        outputs.append(hidden)
    grad_outputs, grad_cell = torch.randn(steps, batch, size).double(), torch.randn(batch, size).double()
    kept = grad_outputs.clone(), grad_cell.clone()
    total = (torch.stack(outputs) * grad_outputs).sum() + (cell * grad_cell).sum()
    expected = torch.autograd.grad(total, [given[0], given[3], given[4]])
    with torch.no_grad():
        made = lstm_loop.forward(*given)
        found = lstm_loop.backward(grad_outputs, grad_cell, made, weight, peepholes)
    torch.testing.assert_close(made.hiddens[1:], torch.stack(outputs), rtol=0, atol=1e-12)
    torch.testing.assert_close(made.squashed, made.cells[1:].tanh(), rtol=0, atol=1e-12)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    assert all(torch.equal(a, b) for a, b in zip((*given, grad_outputs, grad_cell), (*before, *kept)))
