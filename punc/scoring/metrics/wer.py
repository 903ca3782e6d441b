"""WER, the word error rate: (S + D + I) / words of the reference, of words without case and marks.

S words are substituted, D deleted and I inserted in an alignment of minimum edit distance of a stream.
"""

from collections.abc import Sequence

import numpy as np

from punc.data.labels import LabelSet
from punc.scoring.collapse import Collapse
from punc.scoring.ratios import word_error_rate

ORDER = 67
READS = "words"
FIGURE = "WER"
LOWER_IS_BETTER = True


def compute(counts: np.ndarray, labels: LabelSet, collapses: Sequence[Collapse] = ()) -> dict[str, np.ndarray]:
    """Word errors of plain words in percent of the reference."""
    return word_error_rate(FIGURE, counts[..., 0, :])
