"""LABEL.P, .R, .F1: precision, recall and their harmonic mean, of every label but the empty one.

P = right / predicted, R = right / expected, counted in slots.
"""

from collections.abc import Sequence

import numpy as np

from punc.data.labels import LabelSet
from punc.scoring.collapse import Collapse
from punc.scoring.ratios import class_prf

ORDER = 10
READS = "slots"
FIGURE = ""
LOWER_IS_BETTER = False


def compute(counts: np.ndarray, labels: LabelSet, collapses: Sequence[Collapse] = ()) -> dict[str, np.ndarray]:
    """P, R and F1 of each label, weakest first."""
    marks = [*enumerate(labels.names)][1:]
    return {row: values for i, name in marks for row, values in class_prf(name, counts, i).items()}
