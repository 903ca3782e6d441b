"""SU-error: (missed + inserted sentence ends) / sentence ends in the reference.

The SU boundary error rate of NIST's evaluations of metadata extraction (RT-04F; Liu et al. 2006, "Enriching speech
recognition with automatic detection of sentence boundaries and disfluencies", section II). An SU ends after a label
whose mark ends a sentence; which of them does not matter. It can be above 100 %.
"""

from collections.abc import Sequence

import numpy as np

from punc.data.labels import LabelSet
from punc.scoring.collapse import Collapse
from punc.scoring.ratios import ratio, two_classes

ORDER = 63
READS = "slots"
FIGURE = "SU-error"
LOWER_IS_BETTER = True


def compute(counts: np.ndarray, labels: LabelSet, collapses: Sequence[Collapse] = ()) -> dict[str, np.ndarray]:
    """Slots where only one side ends a sentence, in percent of the reference's sentence ends."""
    if not labels.sentence_ends:
        return {}
    both = two_classes(counts, [name in labels.sentence_ends for name in labels.names])
    return {FIGURE: ratio(both[..., 1, 0] + both[..., 0, 1], both[..., 1, :].sum(-1))}
