"""PER, the punctuation error rate: (S + D + I) / (S + D + I + C), of marks.

S marks are taken for another, D are missing, I are too many, and C are right (Meister et al. 2023, LibriSpeech-PC,
section 4). Where SER divides by the marks of the reference, PER divides by the slots that have a mark on either side,
so it is never above 100 %.

NeMo's punctuation_error_rate counts the same after its own alignment, of words and masked marks together. On the same
words with one mark in a slot both agree, but where both sides have other marks in neighbouring slots: there NeMo can
pair a mark with one a word away. On other words the alignments differ.
"""

from collections.abc import Sequence

import numpy as np

from punc.data.labels import LabelSet
from punc.scoring.collapse import Collapse
from punc.scoring.ratios import ratio

ORDER = 55
READS = "slots"
FIGURE = "PER"
LOWER_IS_BETTER = True


def compute(counts: np.ndarray, labels: LabelSet, collapses: Sequence[Collapse] = ()) -> dict[str, np.ndarray]:
    """Wrong slots in percent of the slots that have a mark in the reference or the hypothesis."""
    slots, right = counts.sum((-2, -1)), np.trace(counts, axis1=-2, axis2=-1)
    return {FIGURE: ratio(slots - right, slots - counts[..., 0, 0])}
