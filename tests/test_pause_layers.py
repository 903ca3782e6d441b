"""Pauses as inputs of a network: in seconds, and as learned vectors."""

import pytest
import torch

from punc.layers.pauses import BOUNDS, CLASSES, PauseInput, PauseVectors

PAUSES = torch.tensor([[0.0, 1.5, torch.nan], [torch.nan, 0.25, 0.0]])


def test_pause_input_unknown_is_zero():
    inputs = PauseInput()(PAUSES, PAUSES)
    assert inputs.tolist() == [[[0.0], [0.0]], [[1.5], [0.25]], [[0.0], [0.0]]]


def test_pause_input_flag_tells_unknown_from_zero():
    inputs = PauseInput(unknown_flag=True)(PAUSES, PAUSES)
    assert inputs.tolist() == [[[0.0, 0.0], [0.0, 1.0]], [[1.5, 0.0], [0.25, 0.0]], [[0.0, 1.0], [0.0, 0.0]]]


@pytest.mark.parametrize("tell", [False, True])
def test_pause_input_none_is_unknown(tell):
    layer = PauseInput(tell)
    assert torch.equal(layer(None, PAUSES), layer(torch.full((2, 3), torch.nan), PAUSES))
    assert layer(PAUSES, PAUSES).shape == (3, 2, layer.size)


def test_pause_vectors_classes():
    layer = PauseVectors(1)
    layer.weight.data = torch.arange(CLASSES, dtype=torch.float32)[:, None]
    pauses = torch.tensor([[torch.nan, 0.0, 0.019, BOUNDS[0], 0.5, BOUNDS[-1], 60.0]])
    found = layer(pauses, torch.zeros(1, 7))[0, :, 0].tolist()
    assert found == [0, 1, 1, 2, 6, CLASSES - 1, CLASSES - 1]


def test_pause_vectors_none_is_unknown():
    layer = PauseVectors(3)
    layer.weight.data.normal_()
    tokens = torch.zeros(2, 4)
    unknown = torch.full((2, 4), torch.nan)
    assert torch.equal(layer(None, tokens), layer(unknown, tokens))
    assert layer(None, tokens).shape == (2, 4, 3)


def test_pause_vectors_begin_as_zeros():
    assert not PauseVectors(4)(torch.rand(1, 5), torch.zeros(1, 5)).any()
