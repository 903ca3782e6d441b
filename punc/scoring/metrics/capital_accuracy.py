"""capital.accuracy: words whose first letter has the right case / all words.

Only of label sets with capitals (`W` in labels.txt).
"""

from collections.abc import Sequence

import numpy as np

from punc.data.labels import LabelSet
from punc.scoring.collapse import Collapse
from punc.scoring.ratios import ratio, two_classes

ORDER = 65
READS = "slots"
FIGURE = "capital.accuracy"
LOWER_IS_BETTER = False


def compute(counts: np.ndarray, labels: LabelSet, collapses: Sequence[Collapse] = ()) -> dict[str, np.ndarray]:
    """The share of words with the right case."""
    if not labels.cased:
        return {}
    both = two_classes(counts, [label.capital for label in labels])
    return {FIGURE: ratio(np.trace(both, axis1=-2, axis2=-1), both.sum((-2, -1)))}
