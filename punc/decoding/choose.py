"""The labels of slots, chosen by their posteriors. This module does not import torch."""

import numpy as np


def choose(log_probs: np.ndarray, scale: np.ndarray | None = None) -> np.ndarray:
    """The most probable label of each slot, (N,), given log-posteriors (N, L); of equal ones, the weaker label.

    scale   (L,) factors of the posteriors before the choice (Che et al. 2016, section 3.4: O halved); None: all 1
    """
    return scaled(log_probs, scale).argmax(axis=1)


def scaled(log_probs: np.ndarray, scale: np.ndarray | None) -> np.ndarray:
    """Log-posteriors (N, L) after multiplying the posteriors by factors (L,); None: all 1."""
    return log_probs if scale is None else log_probs + np.log(scale)
