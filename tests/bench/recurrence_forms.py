"""Forms of the peephole LSTM's recurrence, with the functions `forward` and `backward` of punc.layers.lstm_loop."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from unittest import mock

import torch
from torch import Tensor

from punc.layers import lstm_loop
from punc.layers.lstm_loop import Steps, empty_steps


def forms(device: str) -> Iterator[tuple[str, Callable]]:
    """Name and maker of each form; a maker gets the arguments of `forward` and `backward` as an example of shapes."""
    yield "loop", lambda *_: lstm_loop
    yield "torch.compile", lambda *_: SimpleNamespace(forward=compiled_forward, backward=compiled_backward)
    if device.startswith("cuda"):
        yield "CUDA graph", Graphs
        for rows in (1, 4):
            yield f"Triton, {rows} row{'s' * (rows > 1)}", lambda *_, rows=rows: Triton(rows)


class Triton:
    """Kernels whose programs have so many rows."""

    def __init__(self, rows: int):
        from punc.layers import lstm_triton
        self.module, self.changes = lstm_triton, {"ROWS": rows, "PROGRAMS": 0 if rows > 1 else 1 << 30}

    def forward(self, *given: Tensor) -> Steps:
        with mock.patch.multiple(self.module, **self.changes):
            return self.module.forward(*given)

    def backward(self, *given: Tensor) -> tuple[Tensor, ...]:
        with mock.patch.multiple(self.module, **self.changes):
            return self.module.backward(*given)


class Graphs:
    """The loop recorded as two CUDA graphs, for inputs of one shape. A call copies the inputs and plays a graph."""

    def __init__(self, given: list[Tensor], grads: list[Tensor]):
        self.given, self.grads = [t.clone() for t in given], [t.clone() for t in grads]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):  # warms up: libraries get their memory before it is recorded
            for _ in range(3):
                lstm_loop.backward(*self.grads, lstm_loop.forward(*self.given), *self.given[1:3])
        torch.cuda.current_stream().wait_stream(stream)
        self.ahead, self.back = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.ahead):
            self.made = lstm_loop.forward(*self.given)
        with torch.cuda.graph(self.back, pool=self.ahead.pool()):
            self.found = lstm_loop.backward(*self.grads, self.made, *self.given[1:3])

    def forward(self, *given: Tensor) -> Steps:
        for own, new in zip(self.given, given):
            own.copy_(new)
        self.ahead.replay()
        return self.made

    def backward(self, grad_outputs: Tensor, grad_cell: Tensor, *_: object) -> tuple[Tensor, ...]:
        self.grads[0].copy_(grad_outputs)
        self.grads[1].copy_(grad_cell)
        self.back.replay()
        return self.found


@torch.compile(dynamic=False)
def step(product: Tensor, before: Tensor, peepholes: Tensor, gates: Tensor, after: Tensor, squashed: Tensor,
         hidden: Tensor) -> None:
    """What follows the product in a step. Writes the last four."""
    i, f, g, o = product.chunk(4, 1)
    i, f, g = (i + peepholes[0] * before).sigmoid(), (f + peepholes[1] * before).sigmoid(), g.tanh()
    cell = f * before + i * g
    o, squash = (o + peepholes[2] * cell).sigmoid(), cell.tanh()
    gates.copy_(torch.cat([i, f, g, o], 1))
    after.copy_(cell)
    squashed.copy_(squash)
    hidden.copy_(o * squash)


def compiled_forward(gate_inputs: Tensor, weight: Tensor, peepholes: Tensor, hidden: Tensor, cell: Tensor) -> Steps:
    made = empty_steps(gate_inputs, hidden, cell)
    for t, product in enumerate(gate_inputs):
        step(torch.addmm(product, made.hiddens[t], weight), made.cells[t], peepholes, made.gates[t], made.cells[t + 1],
             made.squashed[t], made.hiddens[t + 1])
    return made


@torch.compile(dynamic=False)
def step_back(grad_hidden: Tensor, grad_cell: Tensor, gates: Tensor, before: Tensor, squash: Tensor, peepholes: Tensor,
              grads: Tensor) -> None:
    """What precedes the product in a step. Writes the gradients of the gates and of c."""
    i, f, g, o = gates.chunk(4, 1)
    grad_o = grad_hidden * squash * o * (1 - o)
    total = grad_cell + grad_hidden * o * (1 - squash * squash) + grad_o * peepholes[2]
    grad_i, grad_f, grad_g = total * g * i * (1 - i), total * before * f * (1 - f), total * i * (1 - g * g)
    grads.copy_(torch.cat([grad_i, grad_f, grad_g, grad_o], 1))
    grad_cell.copy_(total * f + grad_i * peepholes[0] + grad_f * peepholes[1])


def compiled_backward(grad_outputs: Tensor, grad_cell: Tensor, made: Steps, weight: Tensor,
                      peepholes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    grads, grad_cell, grad_hidden = torch.empty_like(made.gates), grad_cell.clone(), grad_outputs[-1]
    for t in range(len(grads) - 1, -1, -1):
        step_back(grad_hidden, grad_cell, made.gates[t], made.cells[t], made.squashed[t], peepholes, grads[t])
        grad_hidden = torch.addmm(grad_outputs[t - 1], grads[t], weight.t()) if t else grads[t] @ weight.t()
    return grads, grad_hidden, grad_cell
