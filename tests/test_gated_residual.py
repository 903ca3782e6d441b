"""The gated residual convolution compared with a loop, and how many steps a stack of them sees."""

import numpy as np
import pytest
import torch

from punc.layers.gated_residual import GatedResidual


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
