"""The recurrence of the peephole LSTM (layers.lstm) as two Triton kernels (Tillet et al. 2019): the form for a GPU.

On a GPU, the loop of layers.lstm_loop launches ten kernels a step, and a launch takes longer than the arithmetic of a
step. But the rows of a batch do not depend on each other. So a program here takes a few rows through all steps: their
state stays in its registers, and the weights, which all programs read at every step, stay in the cache. There is one
launch forward and one backward, and no program waits for another one.

All numbers are float32. Products are sums of float32 products, not TF32's.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from punc.layers.lstm_loop import Steps, empty_steps

LARGEST = 128  # units; the registers of a program hold about as many weights as one gate has
PROGRAMS = 128  # about as many as a large GPU runs at once
ROWS = 4  # of a program, if there are more rows than PROGRAMS; with 2 or 8, the compiler runs out of registers


def fits(gate_inputs: Tensor) -> bool:
    """Whether the kernels compute the recurrence of these inputs (T, B, 4H)."""
    return gate_inputs.dtype == torch.float32 and gate_inputs.shape[2] <= 4 * LARGEST


def forward(gate_inputs: Tensor, weight: Tensor, peepholes: Tensor, hidden: Tensor, cell: Tensor) -> Steps:
    """As `lstm_loop.forward`."""
    made = empty_steps(gate_inputs, hidden, cell)
    grid, shape = _launch(*gate_inputs.shape)
    with torch.cuda.device_of(gate_inputs):  # Triton launches on the current GPU
        _forward[grid](gate_inputs.contiguous(), weight.contiguous(), peepholes.contiguous(), *made,
                       *gate_inputs.shape[:2], **shape)
    return made


def backward(grad_outputs: Tensor, grad_cell: Tensor, made: Steps, weight: Tensor,
             peepholes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """As `lstm_loop.backward`."""
    grads, grad_cell = torch.empty_like(made.gates), grad_cell.clone(memory_format=torch.contiguous_format)
    grad_hidden = torch.empty_like(grad_cell)
    grid, shape = _launch(*made.gates.shape)
    with torch.cuda.device_of(made.gates):
        _backward[grid](grad_outputs.contiguous(), weight.t().contiguous(), peepholes.contiguous(), made.gates,
                        made.cells, made.squashed, grads, grad_hidden, grad_cell, *made.gates.shape[:2], **shape)
    return grads, grad_hidden, grad_cell


def _launch(steps: int, batch: int, width: int) -> tuple[tuple[int], dict[str, int]]:
    """How many programs there are, and how many rows and units each has; both are powers of two, as Triton wants."""
    units = max(16, triton.next_power_of_2(width // 4))
    rows = 1 if batch <= PROGRAMS else ROWS
    return (triton.cdiv(batch, rows),), {"SIZE": width // 4, "ROWS": rows, "UNITS": units,
                                         "num_warps": max(4, units // 8)}


@triton.jit
def _times(values, weight, column, inside, UNITS: tl.constexpr):  # type: ignore[no-untyped-def]
    """values (ROWS, UNITS) · one gate's columns of the weight (UNITS, UNITS) → (ROWS, UNITS)."""
    square = tl.load(weight + column, mask=inside, other=0.0)
    return tl.sum(values[:, :, None] * square[None, :, :], axis=1)


@triton.jit
def _tanh(a):  # type: ignore[no-untyped-def]
    return 2.0 * tl.sigmoid(2.0 * a) - 1.0


@triton.jit(do_not_specialize=["steps", "batch"])
def _forward(inputs, weight, peepholes, gates, hiddens, cells, squashed, steps, batch,  # type: ignore[no-untyped-def]
             SIZE: tl.constexpr, ROWS: tl.constexpr, UNITS: tl.constexpr):
    row, unit, other = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, UNITS), tl.arange(0, UNITS)
    known = (row < batch)[:, None] & (unit < SIZE)[None, :]
    state = row[:, None] * SIZE + unit[None, :]  # places in (B, H)
    gate = row[:, None] * (4 * SIZE) + unit[None, :]  # places of i in (B, 4H)
    square = other[:, None] * (4 * SIZE) + unit[None, :]  # places of W_ih in (H, 4H)
    inside = (other < SIZE)[:, None] & (unit < SIZE)[None, :]
    of_unit = unit < SIZE
    in_peephole = tl.load(peepholes + unit, mask=of_unit, other=0.0)[None, :]
    forget_peephole = tl.load(peepholes + SIZE + unit, mask=of_unit, other=0.0)[None, :]
    out_peephole = tl.load(peepholes + 2 * SIZE + unit, mask=of_unit, other=0.0)[None, :]
    hidden = tl.load(hiddens + state, mask=known, other=0.0)
    cell = tl.load(cells + state, mask=known, other=0.0)
    for _ in range(steps):
        hiddens += batch * SIZE
        cells += batch * SIZE
        i = tl.load(inputs + gate, mask=known, other=0.0) + _times(hidden, weight, square, inside, UNITS)
        f = tl.load(inputs + SIZE + gate, mask=known, other=0.0) + _times(hidden, weight + SIZE, square, inside, UNITS)
        g = (tl.load(inputs + 2 * SIZE + gate, mask=known, other=0.0)
             + _times(hidden, weight + 2 * SIZE, square, inside, UNITS))
        o = (tl.load(inputs + 3 * SIZE + gate, mask=known, other=0.0)
             + _times(hidden, weight + 3 * SIZE, square, inside, UNITS))
        i, f, g = tl.sigmoid(i + in_peephole * cell), tl.sigmoid(f + forget_peephole * cell), _tanh(g)
        cell = f * cell + i * g
        o = tl.sigmoid(o + out_peephole * cell)
        squash = _tanh(cell)
        hidden = o * squash
        tl.store(gates + gate, i, mask=known)
        tl.store(gates + SIZE + gate, f, mask=known)
        tl.store(gates + 2 * SIZE + gate, g, mask=known)
        tl.store(gates + 3 * SIZE + gate, o, mask=known)
        tl.store(hiddens + state, hidden, mask=known)
        tl.store(cells + state, cell, mask=known)
        tl.store(squashed + state, squash, mask=known)
        inputs += batch * 4 * SIZE
        gates += batch * 4 * SIZE
        squashed += batch * SIZE


@triton.jit(do_not_specialize=["steps", "batch"])
def _backward(grad_outputs, transposed, peepholes, gates, cells, squashed, grads,  # type: ignore[no-untyped-def]
              grad_hiddens, grad_cells, steps, batch, SIZE: tl.constexpr, ROWS: tl.constexpr, UNITS: tl.constexpr):
    row, unit, other = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, UNITS), tl.arange(0, UNITS)
    known = (row < batch)[:, None] & (unit < SIZE)[None, :]
    state = row[:, None] * SIZE + unit[None, :]  # places in (B, H)
    gate = row[:, None] * (4 * SIZE) + unit[None, :]  # places of i in (B, 4H)
    square = other[:, None] * SIZE + unit[None, :]  # places of the transposed W_ih in (4H, H)
    inside = (other < SIZE)[:, None] & (unit < SIZE)[None, :]
    of_unit = unit < SIZE
    in_peephole = tl.load(peepholes + unit, mask=of_unit, other=0.0)[None, :]
    forget_peephole = tl.load(peepholes + SIZE + unit, mask=of_unit, other=0.0)[None, :]
    out_peephole = tl.load(peepholes + 2 * SIZE + unit, mask=of_unit, other=0.0)[None, :]
    grad_hidden = tl.zeros((ROWS, UNITS), tl.float32)
    grad_cell = tl.load(grad_cells + state, mask=known, other=0.0)
    last = (steps - 1).to(tl.int64) * batch
    grad_outputs += last * SIZE
    gates += last * 4 * SIZE
    grads += last * 4 * SIZE
    cells += last * SIZE
    squashed += last * SIZE
    for _ in range(steps):
        i = tl.load(gates + gate, mask=known, other=0.0)
        f = tl.load(gates + SIZE + gate, mask=known, other=0.0)
        g = tl.load(gates + 2 * SIZE + gate, mask=known, other=0.0)
        o = tl.load(gates + 3 * SIZE + gate, mask=known, other=0.0)
        before = tl.load(cells + state, mask=known, other=0.0)
        squash = tl.load(squashed + state, mask=known, other=0.0)
        grad_hidden += tl.load(grad_outputs + state, mask=known, other=0.0)
        grad_o = grad_hidden * squash * o * (1.0 - o)
        grad_cell += grad_hidden * o * (1.0 - squash * squash) + grad_o * out_peephole
        grad_i = grad_cell * g * i * (1.0 - i)
        grad_f = grad_cell * before * f * (1.0 - f)
        grad_g = grad_cell * i * (1.0 - g * g)
        grad_cell = grad_cell * f + grad_i * in_peephole + grad_f * forget_peephole
        tl.store(grads + gate, grad_i, mask=known)
        tl.store(grads + SIZE + gate, grad_f, mask=known)
        tl.store(grads + 2 * SIZE + gate, grad_g, mask=known)
        tl.store(grads + 3 * SIZE + gate, grad_o, mask=known)
        grad_hidden = (_times(grad_i, transposed, square, inside, UNITS)
                       + _times(grad_f, transposed + SIZE * SIZE, square, inside, UNITS)
                       + _times(grad_g, transposed + 2 * SIZE * SIZE, square, inside, UNITS)
                       + _times(grad_o, transposed + 3 * SIZE * SIZE, square, inside, UNITS))
        grad_outputs -= batch * SIZE
        gates -= batch * 4 * SIZE
        grads -= batch * 4 * SIZE
        cells -= batch * SIZE
        squashed -= batch * SIZE
    tl.store(grad_hiddens + state, grad_hidden, mask=known)
    tl.store(grad_cells + state, grad_cell, mask=known)
