"""capital.P, .R, .F1: precision, recall and F1 of the words that begin with a capital.

Only of label sets with capitals (`W` in labels.txt). If the words differ, a word's capital goes with its slot.
"""

from collections.abc import Sequence

import numpy as np

from punc.data.labels import LabelSet
from punc.scoring.collapse import Collapse
from punc.scoring.ratios import class_prf, two_classes

ORDER = 64
READS = "slots"
FIGURE = ""
LOWER_IS_BETTER = False


def compute(counts: np.ndarray, labels: LabelSet, collapses: Sequence[Collapse] = ()) -> dict[str, np.ndarray]:
    """P, R and F1 of words with a capital."""
    return class_prf("capital", two_classes(counts, [label.capital for label in labels]), 1) if labels.cased else {}
