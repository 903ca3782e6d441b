#!/usr/bin/env python3
"""usage: utils/learn_transitions.py LABELS-FILE DATA-DIR WEIGHT OUT

Counts how often each pair of labels occurs in succession in a text, and how often each label begins a stream. For each
pair, and for each label at the beginning, writes the number that decoding adds to the label's log-posterior:
WEIGHT · log(P(label | previous label) / P(label)). Decoding uses the file if it is called `transitions.txt` in the
model's directory.
"""

from pathlib import Path

import numpy as np

from punc.base.errors import InputError
from punc.bin.script import run_script
from punc.data.datadir import DataDir, label_numbers
from punc.data.labels import LabelSet
from punc.data.transitions import learned, write_transitions


def main(label_file: Path, directory: Path, weight: str, out: Path) -> None:
    labels, data = LabelSet.read(label_file), DataDir(directory, needs=["punct"])
    try:
        factor = float(weight)
    except ValueError:
        factor = -1.0
    if not 0 <= factor <= 1:
        raise InputError(f"WEIGHT {weight}", "give a number from 0 to 1, such as 0.2")
    counts = np.zeros((len(labels) + 1, len(labels)), np.int64)
    for _, stream in data.streams():
        after = label_numbers(stream, labels, data.path)
        before = np.concatenate([[len(labels)], after[:-1]])
        np.add.at(counts, (before, after), 1)
    write_transitions(out, learned(counts, factor), labels)


if __name__ == "__main__":
    run_script(main, __doc__)
