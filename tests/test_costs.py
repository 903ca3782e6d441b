"""Costs compared with loops."""

import pytest
import torch

from punc.layers.costs import squared_error


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 0.5]])
def test_squared_error_matches_loop(weights):
    """Che et al. 2016, equation (1): half the squared distance of posteriors and one-hot label, the mean over slots."""
    torch.manual_seed(1)
    logits, labels = torch.randn(2, 3, 3), torch.tensor([[0, -1, 2], [1, 1, -1]])
    total = count = 0
    for row in range(2):
        for step in range(3):
            label = int(labels[row, step])
            if label >= 0:
                posteriors = logits[row, step].softmax(0).tolist()
                error = sum((p - (i == label)) ** 2 for i, p in enumerate(posteriors)) / 2
                weight = weights[label] if weights else 1
                total, count = total + weight * error, count + weight
    found = squared_error(logits, labels, torch.tensor(weights) if weights else None)
    assert float(found) == pytest.approx(total / count, rel=1e-5)


def test_squared_error_is_0_if_all_right_and_1_if_all_wrong():
    logits = 50.0 * torch.eye(3)
    assert float(squared_error(logits, torch.tensor([0, 1, 2]))) == pytest.approx(0, abs=1e-6)
    assert float(squared_error(logits, torch.tensor([1, 2, 0]))) == pytest.approx(1)
