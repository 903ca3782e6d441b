#!/usr/bin/env python3
"""usage: tune_scale.py LABELS-FILE DATA-DIR DECODE-DIR [DATA-DIR DECODE-DIR …] >OUT

Tries several factors for the posteriors of the labels that write no mark, neither before nor after the word. All these
labels get the same factor. Prints the factor with the highest F1 on dev sets, in the format of `--scale`. Only marks
after words count, not the case of words. F1 is averaged over the sets, so that large and small sets count equally.
DECODE-DIR is the output of `punc punctuate --posteriors true` for DATA-DIR. The F1 of each factor is printed to
standard error.
"""

import sys
from pathlib import Path

import numpy as np

from punc.base.errors import InputError
from punc.bin.script import run_script
from punc.data.datadir import DataDir, label_numbers
from punc.data.kaldi_io import read_posteriors
from punc.data.labels import LabelSet

GRID = np.arange(0.3, 1.25, 0.05)


def f1(labels: np.ndarray, chosen: np.ndarray) -> float:
    """Return the F1 of marks, in percent. Label 0 means no mark."""
    right = int(((labels == chosen) & (labels > 0)).sum())
    return 200 * right / max(int((labels > 0).sum()) + int((chosen > 0).sum()), 1)


def read_set(directory: str, decoded: str, labels: LabelSet) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels (N,) and posteriors (N, L) of all slots. Raises InputError if any posteriors are missing."""
    utterances, archive = list(DataDir(directory).utterances()), Path(decoded) / "post.ark"
    found = dict(read_posteriors(archive))
    for utterance in utterances:
        if found.get(utterance.id, np.zeros(0)).shape != (len(utterance.words), len(labels)):
            raise InputError(f"no posteriors for the {len(utterance.words)} slots of '{utterance.id}'",
                             f"punctuate {directory} with --posteriors true", archive)
    return label_numbers(utterances, labels, directory), np.concatenate([found[one.id] for one in utterances])


def main(labels_file: str, *directories: str) -> None:
    if not directories or len(directories) % 2:
        raise InputError("the directories are not in pairs", "give each DATA-DIR with its DECODE-DIR")
    labels = LabelSet.read(labels_file)
    marks = list(dict.fromkeys(label.mark for label in labels))
    mark = np.array([marks.index(label.mark) for label in labels])
    silent = np.array([not label.mark and not label.opening for label in labels])
    scores = []
    for directory, decoded in zip(directories[::2], directories[1::2]):
        own, posteriors = read_set(directory, decoded, labels)
        scores.append([f1(mark[own], mark[(posteriors * np.where(silent, factor, 1)).argmax(1)]) for factor in GRID])
        print(directory, *(f"{factor:.2f}:{score:.2f}" for factor, score in zip(GRID, scores[-1])), file=sys.stderr)
    best = GRID[np.mean(scores, axis=0).argmax()]
    print(",".join(f"{label.name}={best:.2f}" for label, writes_none in zip(labels, silent) if writes_none))


if __name__ == "__main__":
    run_script(main, __doc__)
