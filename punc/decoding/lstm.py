"""Layers of LSTM in NumPy: many texts side by side, or one text token by token.

    i, f, g, o = W x(t) + a + U h(t−1) + b
    c(t) = σ(f) c(t−1) + σ(i) tanh(g)
    h(t) = σ(o) tanh(c(t))

as in `layers.lstm_stack`. With σ(a) = 1 / (1 + exp(−a)), gates are not multiplied but divided by: the weights of i, f
and o change their signs, and one exp serves the three.

Many texts: NumPy's exp takes half of the time of its tanh, so tanh(g) = 2 / (1 + exp(−2g)) − 1, and the same exp serves
all gates. The first layer reads words, and words repeat: W x + a + b of each different one is computed once
(`Gathered`). A layer above reads states, and one product serves inputs and state (`Multiplied`). A gate of all texts is
one block of memory; the element-wise steps go over it in cache, and nothing is allocated inside the loop.

One text: each call of NumPy takes as long as some hundred numbers, so there are as few as possible.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy

import numpy as np


class Weights:
    """The weights of one layer in one direction.

    arrays   torch's weight_ih (4H, D), weight_hh (4H, H), bias_ih (4H,), bias_hh (4H,) with the gates i, f, g, o
    factor   of g: −2 for `run_layer`, 1 for `Stepper`

    size     H
    hidden, inputs, bias   (4H, H), (4H, D), (4H, 1) with the gates −i, −f, −o, factor · g
    """

    def __init__(self, arrays: Sequence[np.ndarray], factor: float):
        inputs, hidden, bias1, bias2 = arrays
        size = self.size = hidden.shape[1]
        order = np.r_[:2 * size, 3 * size:4 * size, 2 * size:3 * size]
        signs = np.repeat(np.array([-1, -1, -1, factor], np.float32), size)[:, None]
        self.hidden, self.inputs = hidden[order] * signs, inputs[order] * signs
        self.bias = (bias1 + bias2)[order, None] * signs


class Gathered:
    """The gates of the first layer, whose inputs are a few different ones.

    vectors   (U, D), the different inputs
    indices   (T, B), which of them each text has at each step

    Every row of a table is copied as a whole, so the gates of a text stand together: in memory they are (4, B, H).
    """

    def __init__(self, weights: Weights, vectors: np.ndarray, indices: np.ndarray):
        size, batch = weights.size, indices.shape[1]
        inputs, hidden = (matrix.reshape(4, size, -1).transpose(0, 2, 1) for matrix in (weights.inputs, weights.hidden))
        self._hidden, self._indices = np.ascontiguousarray(hidden), indices
        self._table = np.matmul(vectors, inputs)  # (4, U, H)
        self._table += weights.bias.reshape(4, 1, size)
        self._rows, self._values = np.empty((2, 4, batch, size), np.float32)
        self.gates = self._rows.transpose(0, 2, 1)

    def compute(self, t: int, state: np.ndarray) -> None:
        np.matmul(state.T, self._hidden, out=self._rows)
        np.take(self._table, self._indices[t], axis=1, out=self._values, mode="clip")  # other modes make a copy
        np.add(self._rows, self._values, out=self._rows)


class Multiplied:
    """The gates of a layer with the inputs (T, D, B): one product for the state, the inputs and a 1."""

    def __init__(self, weights: Weights, inputs: np.ndarray):
        size, (_, depth, batch) = weights.size, inputs.shape
        self._matrix, self._inputs = np.hstack([weights.hidden, weights.inputs, weights.bias]), inputs
        self._line = np.ones((size + depth + 1, batch), np.float32)
        self._state, self._current = self._line[:size], self._line[size:-1]
        self._columns = np.empty((4 * size, batch), np.float32)
        self.gates = self._columns.reshape(4, size, batch)

    def compute(self, t: int, state: np.ndarray) -> None:
        self._state[:] = state
        self._current[:] = self._inputs[t]
        np.matmul(self._matrix, self._line, out=self._columns)


@np.errstate(over="ignore")  # exp is infinite where σ is 0
def run_layer(product: Gathered | Multiplied, outputs: np.ndarray,
              starts: Mapping[int, np.ndarray] | None = None) -> None:
    """One layer in one direction over B texts. For the other direction, reverse the inputs and `outputs` in time.

    product   computes the gates (4, H, B) of each step, with the factor −2
    outputs   (T, H, B), gets h
    starts    step → the texts that begin there, after padding; all others begin at step 0. What they have in `outputs`
              at the step before becomes 0
    """
    gates = product.gates
    i, f, o, g = gates
    state, cell, squashed = np.zeros_like(g), np.zeros_like(g), np.empty_like(g)  # `cell` is −2 c
    for t, output in enumerate(outputs):
        if starts and t in starts:
            state[:, starts[t]] = 0.0
            cell[:, starts[t]] = 0.0
        product.compute(t, state)
        np.exp(gates, out=gates)
        np.add(gates, 1.0, out=gates)
        np.divide(4.0, g, out=g)
        np.subtract(2.0, g, out=g)  # −2 tanh(g)
        np.divide(g, i, out=i)
        np.divide(cell, f, out=f)
        np.add(i, f, out=cell)
        np.exp(cell, out=squashed)
        np.add(squashed, 1.0, out=squashed)
        np.divide(2.0, squashed, out=squashed)
        np.subtract(squashed, 1.0, out=squashed)  # tanh(c)
        state = np.divide(squashed, o, out=output)


class Stepper:
    """Layers, forward in time, for one stream, one token at a time.

    layers   the weights of each layer, with the factor 1
    output   (L, H) and (L,): the linear layer on top
    """

    def __init__(self, layers: Sequence[Weights], output: tuple[np.ndarray, np.ndarray]):
        matrices = [np.hstack([layer.inputs, layer.hidden]) if number else layer.hidden
                    for number, layer in enumerate(layers)]
        self.weights = [(np.ascontiguousarray(matrix.T), layer.bias.reshape(-1))
                        for matrix, layer in zip(matrices, layers)]
        self.weight = np.column_stack(output)
        self._start()

    def _start(self) -> None:
        """Make the state of a new stream."""
        size = self.weight.shape[1] - 1
        states = self.states = np.zeros(len(self.weights) * size + 1, np.float32)  # from the bottom up, and a 1
        states[-1] = 1.0
        self.top, self.values = states[-size - 1:], np.zeros((len(self.weights), 5 * size), np.float32)
        self.steps = [_step(*weights, states, values, number)
                      for number, (weights, values) in enumerate(zip(self.weights, self.values))]

    def copy(self) -> "Stepper":
        """Another stream in the same state. The two share the weights, and a step of one does not change the other."""
        other = copy(self)
        other._start()
        other.states[:], other.values[:] = self.states, self.values
        return other

    @np.errstate(over="ignore")
    def step(self, inputs: np.ndarray) -> np.ndarray:
        """The inputs' part of the first layer's gates, (4H,) → the logits (L,) of the slot that is decided now."""
        for step in self.steps:
            step(inputs)
        return np.dot(self.weight, self.top)


def _step(weight: np.ndarray, bias: np.ndarray, states: np.ndarray, values: np.ndarray,
          number: int) -> Callable[[np.ndarray], None]:
    """One step of a layer, which changes its part of the states.

    weight   (H or 2H, 4H): of the states that it reads
    values   (5H,): what it computes, i, f, o, g, and the c that it keeps

    The function takes what `Stepper.step` takes. A layer above the first reads the state of the one below, which stands
    right before its own. All views are made once; c stands behind g, and one division serves both.
    """
    size = len(values) // 5
    state = states[number * size:(number + 1) * size]
    line = states[(number - 1) * size:(number + 1) * size] if number else state
    gates, sigmoids, i_f, o, g, g_c, cell = (
        values[a * size:b * size] for a, b in ((0, 4), (0, 3), (0, 2), (2, 3), (3, 4), (3, 5), (4, 5)))
    ones = np.ones(3 * size, np.float32)  # an array is added faster than a number
    quotients, squashed = np.empty(2 * size, np.float32), np.empty(size, np.float32)
    new, kept = quotients[:size], quotients[size:]
    dot, add, divide, exp, tanh = np.dot, np.add, np.divide, np.exp, np.tanh

    def step(inputs: np.ndarray) -> None:
        dot(line, weight, gates)
        add(gates, bias if number else inputs, gates)
        exp(sigmoids, sigmoids)
        tanh(g, g)
        add(sigmoids, ones, sigmoids)
        divide(g_c, i_f, quotients)
        add(new, kept, cell)
        tanh(cell, squashed)
        divide(squashed, o, state)

    return step
