"""Layers of LSTM in NumPy: many texts side by side, or one text token by token.

    i, f, g, o = W x(t) + a + U h(t−1) + b
    c(t) = σ(f) c(t−1) + σ(i) tanh(g)
    h(t) = σ(o) tanh(c(t))

as in `layers.lstm_stack`. With σ(a) = 1 / (1 + exp(−a)), gates are not multiplied but divided by: the weights of i, f
and o change their signs, and one exp serves the three. NumPy's exp takes two thirds of the time of its tanh.

Texts are columns: a gate of all texts is one block of memory, and so is every operand of the element-wise steps. These
and the product each go over memory in cache; nothing is allocated inside the loop.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np

CACHED = 1 << 13  # words whose projections are kept: 25 MB with 192 units


class Weights:
    """The weights of one layer in one direction.

    arrays   torch's weight_ih (4H, D), weight_hh (4H, H), bias_ih (4H,), bias_hh (4H,) with the gates i, f, g, o

    size     H
    hidden, inputs, bias   (4H, H), (4H, D), (4H,) with the gates −i, −f, −o, g
    """

    def __init__(self, arrays: Sequence[np.ndarray]):
        inputs, hidden, bias1, bias2 = arrays
        size = self.size = hidden.shape[1]
        order = np.r_[:2 * size, 3 * size:4 * size, 2 * size:3 * size]
        signs = np.repeat(np.array([-1, -1, -1, 1], np.float32), size)[:, None]
        self.hidden, self.inputs = hidden[order] * signs, inputs[order] * signs
        self.bias = (bias1 + bias2)[order] * signs[:, 0]

    @property
    def fused(self) -> np.ndarray:
        """One matrix (4H, H + D + 1) for state, inputs and a 1."""
        return np.hstack([self.hidden, self.inputs, self.bias[:, None]])


@np.errstate(over="ignore")  # exp is infinite where σ is 0
def run_layer(weight: np.ndarray, inputs: np.ndarray, outputs: np.ndarray,
              starts: Mapping[int, np.ndarray] | None = None) -> None:
    """One layer in one direction over B texts. For the other direction, reverse `inputs` and `outputs` in time.

    weight    (4H, H + D + 1), `Weights.fused`
    inputs    (T, D, B)
    outputs   (T, H, B), gets h
    starts    step → the texts that begin there, after padding; all others begin at step 0
    """
    steps, depth, batch = inputs.shape
    size = len(weight) // 4
    line = np.zeros((size + depth + 1, batch), np.float32)
    line[-1] = 1.0
    state, current = line[:size], line[size:-1]
    gates = np.empty((4 * size, batch), np.float32)
    i, f, o, g = (gates[k * size:(k + 1) * size] for k in range(4))
    sigmoids = gates[:3 * size]
    cell, squashed = np.zeros_like(state), np.empty_like(state)
    for t in range(steps):
        if starts and t in starts:
            state[:, starts[t]] = 0.0
            cell[:, starts[t]] = 0.0
        current[:] = inputs[t]
        np.matmul(weight, line, out=gates)
        np.exp(sigmoids, out=sigmoids)
        np.tanh(g, out=g)
        sigmoids += 1.0
        np.divide(g, i, out=i)
        np.divide(cell, f, out=f)
        np.add(i, f, out=cell)
        np.tanh(cell, out=squashed)
        np.divide(squashed, o, out=state)
        outputs[t] = state


class Stepper:
    """Layers, forward in time, for one stream, one token at a time.

    layers      the weights of each layer
    output      (L, H) and (L,): the linear layer on top
    embedding   (V, E), the vectors of the tokens
    shift       (4H,), added to the projected inputs of the first layer
    """

    def __init__(self, layers: Sequence[Weights], output: tuple[np.ndarray, np.ndarray], embedding: np.ndarray,
                 shift: np.ndarray):
        self.weight, self.bias = output
        first, size = layers[0], layers[0].size
        self.states = np.zeros(len(layers) * size, np.float32)
        self.top = self.states[-size:]
        projection = np.ascontiguousarray(first.inputs.T)
        bias = first.bias + shift
        self.project = lru_cache(CACHED)(lambda token: embedding[token] @ projection + bias)
        self.steps = [_step(layer, self.states, number) for number, layer in enumerate(layers)]

    @np.errstate(over="ignore")
    def step(self, inputs: np.ndarray) -> np.ndarray:
        """The projected inputs (4H,) of a step → the logits (L,) of the slot that is decided now."""
        for step in self.steps:
            step(inputs)
        logits = np.dot(self.weight, self.top)
        logits += self.bias
        return logits


def _step(layer: Weights, states: np.ndarray, number: int) -> Callable[[np.ndarray], None]:
    """One step of a layer, which changes its part of the states (h of each layer, from the bottom up).

    The function takes the projected inputs of the first layer. A layer above reads the state of the one below, which
    stands right before its own. Calls of NumPy take much of the time, so all views are made once.
    """
    size = layer.size
    state = states[number * size:(number + 1) * size]
    line = states[(number - 1) * size:(number + 1) * size] if number else state
    weight = np.ascontiguousarray((np.hstack([layer.inputs, layer.hidden]) if number else layer.hidden).T)
    bias = layer.bias
    gates = np.empty(4 * size, np.float32)
    i, f, o, g = (gates[k * size:(k + 1) * size] for k in range(4))
    sigmoids, ones = gates[:3 * size], np.ones(3 * size, np.float32)  # an array is added faster than a number
    cell, squashed = np.zeros(size, np.float32), np.empty(size, np.float32)
    dot, add, divide, exp, tanh = np.dot, np.add, np.divide, np.exp, np.tanh

    def step(inputs: np.ndarray) -> None:
        dot(line, weight, gates)
        add(gates, bias if number else inputs, gates)
        exp(sigmoids, sigmoids)
        tanh(g, g)
        add(sigmoids, ones, sigmoids)
        divide(g, i, i)
        divide(cell, f, f)
        add(i, f, cell)
        tanh(cell, squashed)
        divide(squashed, o, state)

    return step
