"""Neighbouring steps, concatenated and pooled, compared with loops over the text."""

import pytest
import torch

from punc.layers.neighbours import concatenate_neighbours, max_over_neighbours, outside
from punc.tokens.vocabulary import END


@pytest.mark.parametrize("width", range(1, 10))
def test_max_over_neighbours_matches_loop(width):
    torch.manual_seed(width)
    features = torch.randn(2, 20, 3)
    expected = [[[max(features[row, t + i, k].item() for i in range(width)) for k in range(3)]
                 for t in range(20 - width + 1)] for row in range(2)]
    assert torch.equal(max_over_neighbours(features, width), torch.tensor(expected))


@pytest.mark.parametrize("width", range(1, 8))
def test_max_over_neighbours_minimum_outside_equals_edge_padding(width):
    """Outside a text, the nearest step inside it, not zero: all features are negative here."""
    torch.manual_seed(width)
    steps, before, ahead = 9, (width - 1) // 2, width // 2
    text = -torch.rand(steps, 2)
    expected = [[max(text[min(max(t + i, 0), steps - 1), k].item() for i in range(-before, ahead + 1))
                 for k in range(2)] for t in range(steps)]
    line = torch.nn.functional.pad(text, (0, 0, before, ahead), value=-1.0)
    assert torch.equal(max_over_neighbours(line[None], width)[0], torch.tensor(expected))


def test_max_over_neighbours_gradient_goes_to_maximum():
    features = torch.tensor([[[1.], [5.], [2.], [3.]]], requires_grad=True)
    max_over_neighbours(features, 3).sum().backward()
    assert features.grad.flatten().tolist() == [0, 2, 0, 0]


@pytest.mark.parametrize("width", [1, 2, 3, 4, 7])
def test_max_over_neighbours_gradient_is_that_of_the_steps_alone(width):
    features, factors = torch.randn(3, 12, 5, requires_grad=True), torch.randn(3, 13 - width, 5)
    gradient, = torch.autograd.grad((max_over_neighbours(features, width) * factors).sum(), features)
    expected, = torch.autograd.grad((features.unfold(1, width, 1).amax(-1) * factors).sum(), features)
    assert torch.allclose(gradient, expected)


def test_max_over_neighbours_gradient_of_equal_steps_goes_to_the_first():
    features = torch.tensor([[[1.], [5.], [5.], [3.]]], dtype=torch.bfloat16, requires_grad=True)
    max_over_neighbours(features, 4).sum().backward()
    assert features.grad.flatten().tolist() == [0, 1, 0, 0]
    assert features.grad.dtype == torch.bfloat16


def test_outside_first_end_belongs_to_text():
    a, b = 5, 6
    line = torch.tensor([[END, END, a, b, END, END, END, a, END], [a, b, a, END, a, END, END, END, END]])
    assert outside(line).int().tolist() == [[1, 0, 0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 0, 1, 1, 1]]


@pytest.mark.parametrize("size", [1, 2, 5])
def test_concatenate_neighbours_matches_loop(size):
    vectors = torch.randn(2, 5, 3)
    found = concatenate_neighbours(vectors, size)
    assert found.shape == (2, 6 - size, 3 * size)
    for row in range(2):
        for step in range(6 - size):
            assert torch.equal(found[row, step], torch.cat([vectors[row, step + i] for i in range(size)]))
