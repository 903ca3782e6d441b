"""LABEL.AUPRC: the area under the curve of precision against recall of a label, as its posterior's threshold falls.

The area is the average precision, Σ (R_n − R_{n−1}) P_n over thresholds n, without interpolation (Davis & Goadrich
2006; scikit-learn's average_precision_score). It needs posteriors (post.ark), and has no interval.
"""

from collections.abc import Sequence

import numpy as np

from punc.data.labels import LabelSet
from punc.scoring.collapse import Collapse
from punc.scoring.ratios import ratio

ORDER = 66
READS = "posteriors"
FIGURE = "*.AUPRC"
LOWER_IS_BETTER = False


def compute(counts: np.ndarray, labels: LabelSet, collapses: Sequence[Collapse] = ()) -> dict[str, np.ndarray]:
    """The area of each label but the empty one, of histograms (…, labels, 2, bins)."""
    wrong, right = np.moveaxis(counts[..., ::-1], -2, 0)  # (…, labels, bins), the highest posterior first
    above, total = right.cumsum(-1), right.sum(-1)
    both = above + wrong.cumsum(-1)
    precision = np.divide(above, both, out=np.zeros_like(above), where=both > 0)
    area = ratio((precision * right).sum(-1), total)
    return {f"{name}.AUPRC": area[..., i] for i, name in enumerate(labels.names) if i}
