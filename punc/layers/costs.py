"""Costs of classifiers other than cross-entropy, which `NeuralModel` has."""

from torch import Tensor, nn


def squared_error(logits: Tensor, labels: Tensor) -> Tensor:
    """½‖ŷ − y‖², the mean over slots; ŷ is the softmax of the logits, y is one-hot.

    logits (…, L), labels (…) with −1 where there is no slot

    Che et al. 2016, equation (1). The second term of that equation is the optimizer's weight decay.
    """
    slots = labels >= 0
    posteriors, labels = logits[slots].softmax(1), labels[slots]
    errors = (posteriors - nn.functional.one_hot(labels, logits.shape[-1])).square().sum(1) / 2
    return errors.mean()
