"""Pauses as inputs."""

import pytest
import torch

from punc.layers.pause_input import PauseInput

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
