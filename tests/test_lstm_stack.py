"""Stacks of LSTM compared with loops over their equations: forward, backward, in parts; orthogonal initial weights."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from punc.base.errors import InputError
from punc.layers.lstm_stack import BidirectionalStack, LSTMStack, make_orthogonal, with_ends
from punc.tokens.vocabulary import END

torch.set_num_threads(1)


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


def loop(weights, xs):
    """One layer over the vectors xs: [W, U, a, b] of its equations."""
    w, u, a, b = (weight.detach().double().numpy() for weight in weights)
    h = c = np.zeros(u.shape[1])
    result = []
    for x in xs:
        i, f, g, o = np.split(w @ x + a + u @ h + b, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        result.append(h)
    return result


def made(kind, *sizes):
    """A stack with weights so large that gates open and close."""
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
            expected = loop(weights, expected)
        np.testing.assert_allclose(found[row].numpy(), expected, rtol=0, atol=1e-5)
    assert h.shape == c.shape == (layers, 3, 6)
    assert torch.equal(h[-1], found[:, -1])


def test_lstm_stack_carries_state_over_parts():
    stack, inputs = made(LSTMStack, 4, 6, 2, 0.0), torch.randn(3, 8, 4)
    with torch.no_grad():
        whole, state = stack(inputs, stack.initial_state(3))
        parts, carried = [], stack.initial_state(3)
        for part in inputs.split([1, 0, 5, 0, 2], dim=1):
            hidden, carried = stack(part, carried)
            parts.append(hidden)
    torch.testing.assert_close(torch.cat(parts, 1), whole)
    torch.testing.assert_close(carried, state)


@pytest.mark.parametrize("layers", [1, 2])
def test_bidirectional_stack_matches_loop(layers):
    """Backward, each text begins at its own end, whatever stands behind it."""
    lengths = [8, 1, 5]
    stack, inputs = made(BidirectionalStack, 4, 3, layers, 0.5).eval(), torch.randn(3, 8, 4)
    with torch.no_grad():
        found = stack(inputs, torch.tensor(lengths))
    for row, length in enumerate(lengths):
        expected = inputs[row, :length].double().numpy()
        for ahead, back in zip(stack.forwards, stack.backwards):
            expected = np.concatenate([loop(ahead.all_weights[0], expected),
                                       loop(back.all_weights[0], expected[::-1])[::-1]], axis=1)
        np.testing.assert_allclose(found[row, :length].numpy(), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", [LSTMStack, BidirectionalStack])
def test_stack_dropout_before_between_and_after_layers(kind):
    stack, seen = made(kind, 40, 20, 2, 0.5), []
    stack.dropout.register_forward_hook(lambda _, given, dropped: seen.append((given[0], dropped)))
    stack(torch.ones(10, 5, 40), stack.initial_state(10) if kind is LSTMStack else torch.full((10,), 5))
    if kind is LSTMStack:
        assert stack.lstm.dropout == 0.5  # between the layers
    assert len(seen) == (2 if kind is LSTMStack else 3)
    for given, dropped in seen:
        assert 0.4 < float((dropped == 0).float().mean()) < 0.6
        torch.testing.assert_close(dropped, 2 * given * (dropped != 0))


@pytest.mark.parametrize("kind", [LSTMStack, BidirectionalStack])
@pytest.mark.parametrize(("sizes", "message"), [
    ((4, 0, 2, 0.5), "hidden_dim=0; it is 1 or more"),
    ((4, 6, 0, 0.5), "layers=0; it is 1 or more"),
    ((4, 6, 2, 1.0), "dropout=1.0; it is at least 0 and less than 1")])
def test_stack_invalid_sizes(kind, sizes, message):
    with pytest.raises(InputError) as error:
        kind(*sizes)
    assert str(error.value) == message


def test_with_ends_lengths():
    """A full row, one with its own END, a padded one, one with an END inside, one with END only."""
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
        gates = weights.view(4, 8, *weights.shape[1:])  # input, forget, cell, output: those of torch.nn.LSTM
        if name.startswith("weight_hh"):
            assert torch.allclose(gates @ gates.mT, torch.eye(8).expand(4, 8, 8), atol=1e-5)
        elif name.startswith("weight_ih"):
            limit = math.sqrt(6 / (8 + weights.shape[1]))
            assert (gates.abs().amax((1, 2)) <= limit).all()
            assert (gates.abs().amax((1, 2)) > 0.8 * limit).all()
        else:
            assert (gates == torch.tensor([0.0, float(name.startswith("bias_ih")), 0, 0])[:, None]).all()
    assert torch.equal(net[1].weight, linear)


def test_make_orthogonal_passes_a_step_on_to_a_far_one():
    """What a step far back changes in the output of three layers is far more than with PyTorch's weights."""
    changes = []
    for orthogonal in (False, True):
        torch.manual_seed(1)
        net = LSTMStack(15, 64, 3, 0.0)
        if orthogonal:
            make_orthogonal(net)
        texts = torch.randn(2, 20, 15)
        texts[1, 1:] = texts[0, 1:]
        with torch.no_grad():
            ends = net(texts, net.initial_state(2))[0][:, -1]
        changes.append(float((ends[0] - ends[1]).norm()))
    assert changes[1] > 10 * changes[0] > 0
