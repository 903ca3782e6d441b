"""sentence.P, .R, .F1: precision, recall and F1 of sentence ends, whatever mark they have.

Segmentation F1 (Liu & Shriberg 2007, "Comparing evaluation metrics for sentence boundary detection").
"""

from collections.abc import Sequence

import numpy as np

from punc.data.labels import LabelSet
from punc.scoring.collapse import Collapse
from punc.scoring.ratios import class_prf, two_classes

ORDER = 62
READS = "slots"
FIGURE = ""
LOWER_IS_BETTER = False


def compute(counts: np.ndarray, labels: LabelSet, collapses: Sequence[Collapse] = ()) -> dict[str, np.ndarray]:
    """P, R and F1 of the slots where a sentence ends."""
    if not labels.sentence_ends:
        return {}
    return class_prf("sentence", two_classes(counts, [name in labels.sentence_ends for name in labels.names]), 1)
