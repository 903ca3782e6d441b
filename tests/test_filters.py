"""The convolution of several widths compared with a loop, and how many filters of each width there are."""

import numpy as np
import pytest
import torch

from punc.base.errors import InputError
from punc.layers.filters import Filters


@pytest.mark.parametrize("widths", [1, 2, 3, 4, 7])
def test_filters_match_loop(widths):
    torch.manual_seed(1)
    layer, vectors = Filters(4, widths, 2, 5), torch.randn(2, widths + 7, 4)
    torch.nn.init.normal_(layer.bias)
    x, expected = vectors.double().numpy(), []
    for row in range(2):
        for t in range(layer.before, layer.before + 8):
            step = []
            for width, weight in enumerate(layer.weights, 1):
                assert weight.shape == (min(5, 2 * width), width, 4)
                for one in weight.detach().double().numpy():
                    begin = t - (width - 1) // 2
                    step.append(sum(one[i] @ x[row, begin + i] for i in range(width)))
            expected.append(np.tanh(step + layer.bias.detach().double().numpy()))
    found = layer(vectors)
    assert found.shape == (2, 8, layer.size)
    np.testing.assert_allclose(found.detach().numpy().reshape(16, -1), expected, rtol=0, atol=1e-5)


def test_filters_have_counts_of_the_papers():
    """Kim et al. 2015, table 2, the large model: 50, 100, 150, 200, 200, 200, 200. Gale & Parthasarathy 2017: 1,650."""
    assert [len(w) for w in Filters(15, 7, 50, 200).weights] == [50, 100, 150, 200, 200, 200, 200]
    assert [len(w) for w in Filters(15, 7, 75, 300).weights] == [75, 150, 225, 300, 300, 300, 300]
    assert Filters(15, 7, 75, 300).size == 1650


@pytest.mark.parametrize(("sizes", "message"), [
    ((0, 75, 300), "widths=0; it is 1 or more"),
    ((7, 0, 300), "filters=0; it is 1 or more"),
    ((7, 75, -1), "max_filters=-1; it is 1 or more")])
def test_filters_invalid_sizes(sizes, message):
    with pytest.raises(InputError) as error:
        Filters(15, *sizes)
    assert str(error.value) == message
