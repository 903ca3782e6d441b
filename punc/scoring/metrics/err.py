"""Err: wrong slots / all slots (Tilk & Alumäe 2015, section 3.3)."""

from collections.abc import Sequence

import numpy as np

from punc.data.labels import LabelSet
from punc.scoring.collapse import Collapse
from punc.scoring.ratios import ratio

ORDER = 40
READS = "slots"
FIGURE = "Err"
LOWER_IS_BETTER = True


def compute(counts: np.ndarray, labels: LabelSet, collapses: Sequence[Collapse] = ()) -> dict[str, np.ndarray]:
    """The share of wrong slots."""
    slots, right = counts.sum((-2, -1)), np.trace(counts, axis1=-2, axis2=-1)
    return {FIGURE: ratio(slots - right, slots)}
