"""Orthogonal initial weights of LSTM layers."""

import math

import pytest
import torch
from torch import nn

from punc.base.errors import InputError
from punc.layers.lstm_stack import BidirectionalStack, LSTMStack, make_orthogonal


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


def test_make_orthogonal_of_a_model_without_lstm_layers_is_an_error():
    with pytest.raises(InputError, match="--lstm-weights=orthogonal, but this model has none"):
        make_orthogonal(nn.Linear(2, 2))
