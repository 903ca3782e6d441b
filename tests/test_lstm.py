"""LSTM layers with peepholes, and stacks of LSTMs, give the results of loops over their equations. Initial recurrent
weights are orthogonal."""

import math

import numpy as np
import pytest
import torch
from equations import lstm, sigmoid
from torch import nn

from punc.base.errors import InputError
from punc.layers.lstm import PeepholeLSTM
from punc.layers.lstm_stack import BidirectionalStack, LSTMStack, make_orthogonal, with_ends
from punc.tokens.vocabulary import END

torch.set_num_threads(1)


def loop(inputs, input_weight, hidden_weight, peepholes, h, c):
    """Compute each step, row and gate separately: (T, B, D) → outputs (T, B, H), h, c."""
    size = h.shape[1]
    w_ix, w_fx, w_gx, w_ox = (input_weight[:, k * size:(k + 1) * size].T for k in range(4))
    w_ih, w_fh, w_gh, w_oh = (hidden_weight[:, k * size:(k + 1) * size].T for k in range(4))
    p_i, p_f, p_o = peepholes
    outputs, h, c = [], h.copy(), c.copy()
    for xs in inputs:
        for row, x in enumerate(xs):
            before, cell = h[row].copy(), c[row].copy()
            i = sigmoid(w_ix @ x + w_ih @ before + p_i * cell)
            f = sigmoid(w_fx @ x + w_fh @ before + p_f * cell)
            g = np.tanh(w_gx @ x + w_gh @ before)
            c[row] = f * cell + i * g
            o = sigmoid(w_ox @ x + w_oh @ before + p_o * c[row])
            h[row] = o * np.tanh(c[row])
        outputs.append(h.copy())
    return np.array(outputs), h, c


def layer(input_dim, hidden_dim, dtype=torch.float32, scale=0.8, seed=1):
    torch.manual_seed(seed)
    made = PeepholeLSTM(input_dim, hidden_dim).to(dtype)
    for weight in made.parameters():
        torch.nn.init.uniform_(weight, -scale, scale)
    return made


def arrays(made):
    return [w.detach().numpy() for w in (made.input_weight, made.hidden_weight, made.peepholes)]


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 1e-5)])
@pytest.mark.parametrize(("steps", "batch", "input_dim", "size"), [(1, 1, 1, 1), (7, 3, 5, 4), (20, 2, 3, 11)])
def test_forward_matches_equations(dtype, tolerance, steps, batch, input_dim, size):
    made = layer(input_dim, size, dtype)
    inputs = torch.randn(steps, batch, input_dim, dtype=dtype)
    state = torch.randn(batch, size, dtype=dtype), torch.randn(batch, size, dtype=dtype)
    outputs, (h, c) = made(inputs, state)
    expected = loop(inputs.numpy(), *arrays(made), *(s.numpy() for s in state))
    for found, array in zip((outputs, h, c), expected):
        assert found.dtype == dtype
        np.testing.assert_allclose(found.detach().numpy(), array, rtol=0, atol=tolerance)


def test_recurrence_is_in_float32_under_autocast():
    """The product with the inputs is in bfloat16. All later results equal those in float32 bit for bit."""
    made, inputs = layer(3, 4), torch.randn(6, 2, 3)
    state = torch.randn(2, 4), torch.randn(2, 4)
    with torch.autocast("cpu", torch.bfloat16):
        gate_inputs = inputs @ made.input_weight
        outputs, (h, c) = made.recur(gate_inputs, state)
    outputs.sum().backward()
    found = made.hidden_weight.grad.clone()
    made.zero_grad()
    assert gate_inputs.dtype == torch.bfloat16
    expected, end = made.recur(gate_inputs.detach().float(), state)
    expected.sum().backward()
    for a, b in zip((outputs, h, c, found), (expected, *end, made.hidden_weight.grad)):
        assert a.dtype == torch.float32
        assert torch.equal(a, b)


@pytest.mark.parametrize("step_by_step", [False, True])
def test_biases_are_weights_of_an_input_that_is_one(step_by_step):
    made = layer(3, 4, scale=0.8)
    with_biases = PeepholeLSTM(2, 4, biases=True)
    assert set(dict(with_biases.named_parameters())) - set(dict(layer(2, 4).named_parameters())) == {"bias"}
    with torch.no_grad():
        for own, other in ((with_biases.input_weight, made.input_weight[:2]), (with_biases.bias, made.input_weight[2]),
                           (with_biases.hidden_weight, made.hidden_weight), (with_biases.peepholes, made.peepholes)):
            own.copy_(other)
    inputs = torch.randn(6, 1, 2)
    expected = made(torch.cat([inputs, torch.ones(6, 1, 1)], dim=2), made.initial_state(1))[0]
    found = with_biases(inputs, with_biases.initial_state(1))[0]
    if step_by_step:
        state, found = with_biases.initial_state(1), torch.empty(6, 1, 4)
        for step, gates in enumerate(inputs @ with_biases.input_weight):
            state = with_biases.one_step(gates, state)
            found[step] = state[0]
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("use", [lambda out, h, c: out[:3].sum(), lambda out, h, c: c.sum(), lambda out, h, c: h.sum(),
                                 lambda out, h, c: (out * out).mean() + (h * c).sum()])
def test_gradients_match_autograd_if_some_results_are_unused(use):
    made = layer(3, 4, torch.float64)
    inputs = torch.randn(5, 2, 3, dtype=torch.float64, requires_grad=True)
    state = [torch.randn(2, 4, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    leaves = [inputs, *state, *made.parameters()]
    outputs, (h, c) = made(inputs, tuple(state))
    found = torch.autograd.grad(use(outputs, h, c), leaves, allow_unused=True)
    h, c = state
    p_i, p_f, p_o = made.peepholes
    plain = []
    for x in inputs:
        i, f, g, o = (x @ made.input_weight + h @ made.hidden_weight).chunk(4, dim=1)
        c_before = c
        c = (f + p_f * c_before).sigmoid() * c_before + (i + p_i * c_before).sigmoid() * g.tanh()
        h = (o + p_o * c).sigmoid() * c.tanh()
        plain.append(h)
    expected = torch.autograd.grad(use(torch.stack(plain), h, c), leaves, allow_unused=True)
    for a, b in zip(found, expected):
        torch.testing.assert_close(a, torch.zeros_like(a) if b is None else b, rtol=0, atol=1e-12)


def test_cell_that_never_forgets_for_2000_steps():
    """With open gates, the cell counts the steps. Nothing overflows in the forward or the backward pass."""
    made = layer(1, 2)
    with torch.no_grad():
        for weight in made.parameters():
            weight.fill_(40.0)
    outputs, (_, cell) = made(torch.full((2000, 1, 1), 40.0), made.initial_state(1))
    assert cell.tolist() == [[2000.0, 2000.0]]
    assert outputs[-1].tolist() == [[1.0, 1.0]]
    outputs[-1].sum().backward()
    assert all(bool(weight.grad.isfinite().all()) for weight in made.parameters())


def layer_of(weights, inputs):
    return lstm(inputs, *(weight.detach().double().numpy() for weight in weights))


def made(kind, *sizes):
    torch.manual_seed(1)
    stack = kind(*sizes)
    for weight in stack.parameters():
        torch.nn.init.uniform_(weight, -1, 1)
    return stack


@pytest.mark.parametrize("layers", [1, 3])
def test_lstm_stack_matches_loop(layers):
    stack, inputs = made(LSTMStack, 4, 6, layers, 0.5).eval(), torch.randn(3, 8, 4)
    with torch.no_grad():
        found, (h, c) = stack(inputs, stack.initial_state(3))
    for row in range(3):
        expected = inputs[row].double().numpy()
        for weights in stack.lstm.all_weights:
            expected = layer_of(weights, expected)
        np.testing.assert_allclose(found[row].numpy(), expected, rtol=0, atol=1e-5)
    assert h.shape == c.shape == (layers, 3, 6)
    assert torch.equal(h[-1], found[:, -1])


@pytest.mark.parametrize("layers", [1, 2])
def test_bidirectional_stack_matches_loop(layers):
    """The backward direction of each text begins at the end of this text, whatever follows in the row."""
    lengths = [8, 1, 5]
    stack, inputs = made(BidirectionalStack, 4, 3, layers, 0.5).eval(), torch.randn(3, 8, 4)
    with torch.no_grad():
        found = stack(inputs, torch.tensor(lengths))
    for row, length in enumerate(lengths):
        expected = inputs[row, :length].double().numpy()
        for ahead, back in zip(stack.forwards, stack.backwards):
            expected = np.concatenate([layer_of(ahead.all_weights[0], expected),
                                       layer_of(back.all_weights[0], expected[::-1])[::-1]], axis=1)
        np.testing.assert_allclose(found[row, :length].numpy(), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", [LSTMStack, BidirectionalStack])
def test_stack_dropout_before_between_and_after_layers(kind):
    stack, seen = made(kind, 40, 20, 2, 0.5), []
    stack.dropout.register_forward_hook(lambda _, given, dropped: seen.append((given[0], dropped)))
    stack(torch.ones(10, 5, 40), stack.initial_state(10) if kind is LSTMStack else torch.full((10,), 5))
    if kind is LSTMStack:
        assert stack.lstm.dropout == 0.5  # between layers
    assert len(seen) == (2 if kind is LSTMStack else 3)
    for given, dropped in seen:
        assert 0.4 < float((dropped == 0).float().mean()) < 0.6
        torch.testing.assert_close(dropped, 2 * given * (dropped != 0))


@pytest.mark.parametrize("kind", [LSTMStack, BidirectionalStack])
@pytest.mark.parametrize(("sizes", "message"), [
    ((4, 0, 2, 0.5), "hidden_dim=0 is out of range; give 1 or more"),
    ((4, 6, 0, 0.5), "layers=0 is out of range; give 1 or more"),
    ((4, 6, 2, 1.0), "dropout=1.0 is out of range; give at least 0 and less than 1")])
def test_stack_invalid_sizes(kind, sizes, message):
    with pytest.raises(InputError) as error:
        kind(*sizes)
    assert str(error.value) == message


def test_with_ends_lengths():
    rows = torch.tensor([[5, 6, 7], [5, 6, END], [5, END, END], [5, END, 7], [END, END, END]])
    line, lengths = with_ends(rows)
    assert torch.equal(line[:, :3], rows)
    assert torch.equal(line[:, 3], torch.full((5,), END))
    assert lengths.tolist() == [3, 2, 1, 3, 0]


@pytest.mark.parametrize("stack", [lambda: LSTMStack(5, 8, 2, 0.0), lambda: BidirectionalStack(5, 8, 2, 0.0)],
                         ids=["forward", "both"])
def test_make_orthogonal_of_each_gate_of_each_layer(stack):
    net = nn.Sequential(stack(), nn.Linear(8, 3))
    linear = net[1].weight.clone()
    torch.manual_seed(1)
    make_orthogonal(net)
    layers = [module for module in net.modules() if isinstance(module, nn.LSTM)]
    for name, weights in (pair for layer in layers for pair in layer.named_parameters()):
        gates = weights.view(4, 8, *weights.shape[1:])  # torch.nn.LSTM's order: input, forget, cell, output
        if name.startswith("weight_hh"):
            assert torch.allclose(gates @ gates.mT, torch.eye(8).expand(4, 8, 8), atol=1e-5)
        elif name.startswith("weight_ih"):
            limit = math.sqrt(6 / (8 + weights.shape[1]))
            assert (gates.abs().amax((1, 2)) <= limit).all()
            assert (gates.abs().amax((1, 2)) > 0.8 * limit).all()
        else:
            assert (gates == torch.tensor([0.0, float(name.startswith("bias_ih")), 0, 0])[:, None]).all()
    assert torch.equal(net[1].weight, linear)
