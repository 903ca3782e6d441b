"""SER, the slot error rate: (substitutions + deletions + insertions) / marks in the reference.

A slot has one label, so that is wrong slots / marks in the reference (Makhoul et al. 1999).
"""

from collections.abc import Sequence

import numpy as np

from punc.data.labels import LabelSet
from punc.scoring.collapse import Collapse
from punc.scoring.ratios import ratio

ORDER = 50
READS = "slots"
FIGURE = "SER"
LOWER_IS_BETTER = True


def compute(counts: np.ndarray, labels: LabelSet, collapses: Sequence[Collapse] = ()) -> dict[str, np.ndarray]:
    """Wrong slots in percent of the reference's marks."""
    slots, right = counts.sum((-2, -1)), np.trace(counts, axis1=-2, axis2=-1)
    return {FIGURE: ratio(slots - right, counts[..., 1:, :].sum((-2, -1)))}
