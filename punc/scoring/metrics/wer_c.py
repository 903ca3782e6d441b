"""WER_C, the word error rate of words with their capitals: (S + D + I) / words of the reference.

Meister et al. 2023, LibriSpeech-PC. Other case is another word. There is none where capitals are not known.
"""

from collections.abc import Sequence

import numpy as np

from punc.data.labels import LabelSet
from punc.scoring.collapse import Collapse
from punc.scoring.ratios import word_error_rate

ORDER = 68
READS = "words"
FIGURE = "WER_C"
LOWER_IS_BETTER = True


def compute(counts: np.ndarray, labels: LabelSet, collapses: Sequence[Collapse] = ()) -> dict[str, np.ndarray]:
    """Word errors of cased words in percent of the reference."""
    return word_error_rate(FIGURE, counts[..., 1, :])
