#!/usr/bin/env python3
"""usage: local/beside_errors.py LABELS-FILE COLLAPSE REFERENCE RECOGNIZED PUNCTUATED

How well a recogniser's text is punctuated where it is right, and where it is not. REFERENCE has the words that were
said, RECOGNIZED the recogniser's words with the right labels, PUNCTUATED the same with the labels to score. A slot is
beside an error where the word before it or after it is not the one that was said, or one is missing between them.
COLLAPSE is one of `punc score`, of which P, R and F1 are printed.
"""

import sys

import numpy as np

from punc.base.errors import InputError
from punc.data.datadir import DataDir, label_numbers
from punc.data.labels import LabelSet
from punc.scoring.collapse import parse_collapse
from punc.scoring.counts import confusion
from punc.scoring.metrics import compute_metrics
from punc.scoring.ratios import PARTS
from punc.timing.align import align_words


def words_and_labels(directory: str, labels: LabelSet) -> tuple[list[str], np.ndarray]:
    """All words of a directory, and the numbers of their labels."""
    utterances = list(DataDir(directory).utterances())
    words = [word for utterance in utterances for word in utterance.words]
    return words, label_numbers(utterances, labels, directory)


def beside_error(said: list[str], recognized: list[str]) -> np.ndarray:
    """Whether each slot of the recognized words is beside an error, (N,). The text's end is no error."""
    place = np.full(len(recognized) + 1, -1)  # of the word that was said, where it is the same
    place[-1] = len(said)
    for i, j in enumerate(align_words(said, recognized).ref_to_hyp):
        if j >= 0 and said[i] == recognized[j]:
            place[j] = i
    return (place[:-1] < 0) | (place[1:] != place[:-1] + 1)


def main(labels_file: str, collapse: str, reference: str, recognized: str, punctuated: str) -> None:
    labels = LabelSet.read(labels_file)
    merged = parse_collapse(collapse, labels)
    (said, _), (words, expected), (same, found) = (words_and_labels(directory, labels)
                                                   for directory in (reference, recognized, punctuated))
    if words != same:
        raise InputError("its words are others", f"punctuate {recognized}", punctuated)
    counts = confusion(expected, found, beside_error(said, words).astype(np.int64), 2, len(labels))
    print("| slots | words | P | R | F1 |\n|---|---:|---:|---:|---:|")
    for name, block in (("all", counts.sum(0)), ("not beside an error", counts[0]), ("beside an error", counts[1])):
        prf = " | ".join(f"{compute_metrics(block, labels, [merged])[f'{merged.name}.{part}']:.1f}" for part in PARTS)
        print(f"| {name} | {block.sum():,} | {prf} |")


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except InputError as error:
        sys.exit(f"{sys.argv[0]}: {error}")
