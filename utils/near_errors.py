#!/usr/bin/env python3
"""usage: near_errors.py LABELS-FILE COLLAPSE REFERENCE RECOGNIZED PUNCTUATED

Scores punctuated ASR output near recognition errors and elsewhere. Of the three data directories, REFERENCE contains
the spoken words, RECOGNIZED the ASR output with the reference labels, and PUNCTUATED the ASR output with the labels to
score. A slot is near an error if the word before or after it is wrong, or if a spoken word is missing between the two.
COLLAPSE has the format of `--collapse` in `punc score`. Prints P, R and F1 of the collapsed marks or, if COLLAPSE is
empty, of all marks.
"""

import numpy as np

from punc.base.errors import InputError
from punc.bin.script import run_script
from punc.data.datadir import DataDir, label_numbers
from punc.data.labels import LabelSet
from punc.scoring.counts import confusion
from punc.scoring.metrics import PARTS, compute_metrics, parse_collapse
from punc.timing.align import align_words


def words_and_labels(directory: str, labels: LabelSet) -> tuple[list[str], np.ndarray]:
    """Return all words of a data directory, and the index in `labels` of each word's label."""
    utterances = list(DataDir(directory).utterances())
    words = [word for utterance in utterances for word in utterance.words]
    return words, label_numbers(utterances, labels, directory)


def near_error(said: list[str], recognized: list[str]) -> np.ndarray:
    """Return, for each slot of the recognised words, whether it is near an error, bool (N,). The end of the text counts
    as a correct word."""
    index = np.full(len(recognized) + 1, -1)  # for each correct word, its index in `said`; else −1
    index[-1] = len(said)
    for i, j in enumerate(align_words(said, recognized).ref_to_hyp):
        if j >= 0 and said[i] == recognized[j]:
            index[j] = i
    return (index[:-1] < 0) | (index[1:] != index[:-1] + 1)


def main(labels_file: str, collapse: str, reference: str, recognized: str, punctuated: str) -> None:
    labels = LabelSet.read(labels_file)
    merged = [parse_collapse(collapse, labels)] if collapse else []
    metric = merged[0].name if merged else "overall"
    (said, _), (words, expected), (same, found) = (words_and_labels(directory, labels)
                                                   for directory in (reference, recognized, punctuated))
    if words != same:
        raise InputError(f"its words differ from {recognized}", f"punctuate {recognized}", punctuated)
    counts = confusion(expected, found, near_error(said, words).astype(np.int64), 2, len(labels))
    print("| slots | words | P | R | F1 |\n|---|---:|---:|---:|---:|")
    for name, block in (("all", counts.sum(0)), ("not near an error", counts[0]), ("near an error", counts[1])):
        prf = " | ".join(f"{compute_metrics(block, labels, merged)[f'{metric}.{part}']:.1f}" for part in PARTS)
        print(f"| {name} | {block.sum():,} | {prf} |")


if __name__ == "__main__":
    run_script(main, __doc__)
