"""Filters, neighbouring steps, highway and gated residual layers, compared with loops."""

import math

import numpy as np
import pytest
import torch

from punc.base.errors import InputError
from punc.layers.convolution import Filters, Highway, concatenate_neighbours, max_over_neighbours, outside
from punc.models.dilated_cnn import GatedResidual
from punc.tokens.vocabulary import END


@pytest.mark.parametrize("widths", [1, 2, 3, 4, 7])
def test_filters_match_loop(widths):
    torch.manual_seed(1)
    layer, vectors = Filters(4, widths, 2), torch.randn(2, widths + 7, 4)
    torch.nn.init.normal_(layer.bias)
    x, expected = vectors.double().numpy(), []
    for row in range(2):
        for t in range(layer.before, layer.before + 8):
            step = []
            for width, weight in enumerate(layer.weights, 1):
                assert weight.shape == (2 * min(4, width), width, 4)
                for one in weight.detach().double().numpy():
                    begin = t - (width - 1) // 2
                    step.append(sum(one[i] @ x[row, begin + i] for i in range(width)))
            expected.append(np.tanh(step + layer.bias.detach().double().numpy()))
    found = layer(vectors)
    assert found.shape == (2, 8, layer.size)
    np.testing.assert_allclose(found.detach().numpy().reshape(16, -1), expected, rtol=0, atol=1e-5)


def test_filters_have_counts_of_the_papers():
    """Kim et al. 2015, table 2, the large model: 50, 100, 150, 200, 200, 200, 200. Gale & Parthasarathy 2017: 1,650."""
    assert [len(w) for w in Filters(15, 7, 50).weights] == [50, 100, 150, 200, 200, 200, 200]
    assert [len(w) for w in Filters(15, 7, 75).weights] == [75, 150, 225, 300, 300, 300, 300]
    assert Filters(15, 7, 75).size == 1650


def test_filters_invalid_sizes():
    with pytest.raises(InputError, match=r"^filters=0; it is 1 or more"):
        Filters(15, 7, 0)


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


def by_the_equation(layer, x):
    """One vector: y = H T + x (1 − T)."""
    size, weight, bias = len(x), layer.both.weight.tolist(), layer.both.bias.tolist()
    result = []
    for unit in range(size):
        h, t = (sum(w * a for w, a in zip(weight[row], x)) + bias[row] for row in (unit, size + unit))
        gate = 1 / (1 + math.exp(-t))
        result.append(max(h, 0) * gate + x[unit] * (1 - gate))
    return result


def test_highway_matches_loop():
    torch.manual_seed(1)
    layer, inputs = Highway(7), torch.randn(3, 4, 7)
    with torch.no_grad():
        layer.both.weight.mul_(5)
        expected = [[by_the_equation(layer, x) for x in row] for row in inputs.tolist()]
        torch.testing.assert_close(layer(inputs), torch.tensor(expected), rtol=0, atol=1e-5)


def test_highway_initially_carries_input():
    with torch.no_grad():
        layer, inputs = Highway(50), torch.randn(10, 50)
        layer.both.weight.zero_()
        layer.both.bias[:50].zero_()
        torch.testing.assert_close(layer(inputs), inputs * (1 - 1 / (1 + math.exp(2))))


@pytest.mark.parametrize("input_dim", [3, 5])
@pytest.mark.parametrize("dilation", [1, 2, 3, 4])
def test_gated_residual_matches_loop(input_dim, dilation):
    torch.manual_seed(1)
    layer, inputs = GatedResidual(input_dim, 3, dilation), torch.randn(2, dilation + 6, input_dim)
    w = {name: weight.double().numpy() for name, weight in layer.state_dict().items()}
    x, expected = inputs.double().numpy(), np.zeros((2, 6, 3))
    for row in range(2):
        for t in range(6):
            taps = np.append(x[row, t], x[row, t + dilation])  # t − ⌊d/2⌋ and t + ⌈d/2⌉ around the step in the middle
            here = x[row, t + dilation // 2]
            skip = here if input_dim == 3 else w["project.weight"] @ here
            for k in range(3):
                candidate = w["both.weight"][k] @ taps + w["both.bias"][k]
                gate = w["both.weight"][3 + k] @ taps + w["both.bias"][3 + k]
                expected[row, t, k] = skip[k] + np.tanh(candidate) / (1 + np.exp(-gate))
    np.testing.assert_allclose(layer(inputs).detach().numpy(), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("layers", [1, 2, 3, 5])
def test_gated_residual_each_layer_doubles_context(layers):
    """Exactly the 2ⁿ steps from t − ⌊(2ⁿ − 1)/2⌋ to t + ⌈(2ⁿ − 1)/2⌉."""
    torch.manual_seed(1)
    pile = torch.nn.Sequential(*(GatedResidual(2, 2, 2 ** number) for number in range(layers))).double()
    inputs = torch.randn(1, 100, 2, dtype=torch.double, requires_grad=True)
    outputs = pile(inputs)
    before = (2 ** layers - 1) // 2
    assert outputs.shape == (1, 100 - 2 ** layers + 1, 2)
    outputs[0, 40 - before].sum().backward()  # the output that belongs to step 40
    assert inputs.grad[0].any(dim=1).nonzero().flatten().tolist() == list(range(40 - before, 41 + 2 ** layers // 2))
