"""overall.P, .R, .F1: all labels but the empty one together, micro-averaged; a mark is right where its label is.

Che et al. 2016, section 3.2: correctly predicted marks / all predicted, / all expected. So overall.P is the mean of
the labels' P, weighted with how often each is predicted, and overall.R the mean of their R, weighted with how often
each is expected.
"""

from collections.abc import Sequence

import numpy as np

from punc.data.labels import LabelSet
from punc.scoring.collapse import Collapse
from punc.scoring.ratios import overall_prf

ORDER = 20
READS = "slots"
FIGURE = ""
LOWER_IS_BETTER = False


def compute(counts: np.ndarray, labels: LabelSet, collapses: Sequence[Collapse] = ()) -> dict[str, np.ndarray]:
    """P, R and F1 of all marks."""
    return overall_prf("overall", counts)
