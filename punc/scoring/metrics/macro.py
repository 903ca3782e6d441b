"""macro.F1: the plain mean of the marks' F1, without undefined ones."""

from collections.abc import Sequence

import numpy as np

from punc.data.labels import LabelSet
from punc.scoring.collapse import Collapse
from punc.scoring.ratios import class_prf, ratio

ORDER = 30
READS = "slots"
FIGURE = "macro.F1"
LOWER_IS_BETTER = False


def compute(counts: np.ndarray, labels: LabelSet, collapses: Sequence[Collapse] = ()) -> dict[str, np.ndarray]:
    """The mean of F1 over marks."""
    f1 = np.stack([class_prf(name, counts, i)[f"{name}.F1"] for i, name in enumerate(labels.names)][1:])
    return {FIGURE: ratio(np.nansum(f1, 0) / 100, np.isfinite(f1).sum(0))}
