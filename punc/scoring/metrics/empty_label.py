"""LABEL.P, .R, .F1 of the empty label: precision, recall and F1 of the slots without a mark."""

from collections.abc import Sequence

import numpy as np

from punc.data.labels import LabelSet
from punc.scoring.collapse import Collapse
from punc.scoring.ratios import class_prf

ORDER = 70
READS = "slots"
FIGURE = ""
LOWER_IS_BETTER = False


def compute(counts: np.ndarray, labels: LabelSet, collapses: Sequence[Collapse] = ()) -> dict[str, np.ndarray]:
    """P, R and F1 of label 0."""
    return class_prf(labels.names[0], counts, 0)
