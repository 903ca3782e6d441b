"""Costs of classifiers other than cross-entropy, which is that of `punc.models.base.Neural`."""

from torch import Tensor, nn


def squared_error(logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
    """½‖ŷ − y‖², ŷ the softmax of the logits and y one-hot, as the mean over slots.

    Che et al. 2016, equation (1), whose second term is the optimiser's --weight-decay.

    logits (…, L), labels (…) with -1 where there is no slot; weights (L,) as of cross-entropy, None: all 1
    """
    slots = labels >= 0
    posteriors, labels = logits[slots].softmax(1), labels[slots]
    errors = (posteriors - nn.functional.one_hot(labels, logits.shape[-1])).square().sum(1) / 2
    if weights is None:
        return errors.mean()
    weights = weights[labels]
    return (weights * errors).sum() / weights.sum()
