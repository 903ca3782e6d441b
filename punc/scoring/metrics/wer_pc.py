"""WER_PC, the word error rate of words with their capitals and marks: (S + D + I) / words of the reference.

Meister et al. 2023, LibriSpeech-PC. A word and the mark after it are one token, as between blanks of a text; labels say
which marks count, and which are the same. Where capitals are not known, only marks count.
"""

from collections.abc import Sequence

import numpy as np

from punc.data.labels import LabelSet
from punc.scoring.collapse import Collapse
from punc.scoring.ratios import word_error_rate

ORDER = 69
READS = "words"
FIGURE = "WER_PC"
LOWER_IS_BETTER = True


def compute(counts: np.ndarray, labels: LabelSet, collapses: Sequence[Collapse] = ()) -> dict[str, np.ndarray]:
    """Word errors of cased words with marks in percent of the reference."""
    return word_error_rate(FIGURE, counts[..., 2, :])
