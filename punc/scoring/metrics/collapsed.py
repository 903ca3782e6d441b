"""NAME.P, .R, .F1: the overall score with labels taken together, as `punc score --collapse` says.

The 2 and 3 classes of Che et al. 2016, section 3.3. If the classes are more than the empty one and another, each class
of several labels has its own P, R and F1 too: NAME.CLASS.P, ….
"""

from collections.abc import Sequence

import numpy as np

from punc.data.labels import LabelSet
from punc.scoring.collapse import Collapse
from punc.scoring.ratios import class_prf, overall_prf

ORDER = 60
READS = "slots"
FIGURE = ""
LOWER_IS_BETTER = False


def compute(counts: np.ndarray, labels: LabelSet, collapses: Sequence[Collapse] = ()) -> dict[str, np.ndarray]:
    """P, R and F1 for each collapse, and for its classes of several labels."""
    result: dict[str, np.ndarray] = {}
    for collapse in collapses:
        member = np.eye(len(collapse.classes))[collapse.number]  # (labels, classes)
        merged = member.T @ counts @ member
        result |= overall_prf(collapse.name, merged)
        for i, name in [*enumerate(collapse.classes)][1:] if len(collapse.classes) > 2 else ():
            if name not in labels.names:
                result |= class_prf(f"{collapse.name}.{name}", merged, i)
    return result
