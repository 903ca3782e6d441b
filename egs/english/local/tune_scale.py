"""usage: tune_scale.py EXP-DIR STORE SET … >OUT

Prints the `--scale` of the labels without a mark that gives the highest F1 of marks on development sets: the mean of
the sets' F1, so that a large set counts as much as a small one. The posteriors are those of all labels; a mark counts
whatever the case of its word. The grid is printed as a log.
"""

import sys

import numpy as np
import torch

from punc.base.errors import InputError
from punc.bin.script import run_script
from punc.decoding.decode import log_posteriors
from punc.models.base import load
from punc.tokens.store import Store

GRID = np.arange(0.3, 1.25, 0.05)


def f1(labels: np.ndarray, chosen: np.ndarray) -> float:
    """F1 of marks, in percent; 0 is no mark."""
    right = int(((labels == chosen) & (labels > 0)).sum())
    return 200 * right / max(int((labels > 0).sum()) + int((chosen > 0).sum()), 1)


def main(directory: str, place: str, *sets: str) -> None:
    torch.set_num_threads(1)
    model, store = load(directory), Store(place)
    marks = list(dict.fromkeys(label.mark for label in model.labels))
    mark = np.array([marks.index(label.mark) for label in model.labels])
    bare = [label.name for label in model.labels if not label.mark]
    scores = np.zeros((len(sets), len(GRID)))
    for row, name in enumerate(sets):
        data = store.set(name)
        if data.labels is None:
            raise InputError("no labels", "name a set that has them", store.path / name)
        log_probs = log_posteriors(model, data)
        for column, factor in enumerate(GRID):
            chosen = (log_probs + np.where(mark == 0, np.log(factor), 0)).argmax(1)
            scores[row, column] = f1(mark[data.labels], mark[chosen])
        print(name, *(f"{factor:.2f}:{score:.2f}" for factor, score in zip(GRID, scores[row])), file=sys.stderr)
    best = GRID[scores.mean(0).argmax()]
    print(",".join(f"{name}={best:.2f}" for name in bare))


if __name__ == "__main__":
    run_script(main, __doc__)
