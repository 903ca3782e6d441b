"""The label set of a data directory: `punct.labels`, as a `labels.txt`, next to the labels that were read with it.

A program that gets labels and a label set compares the two, so that data of an older label set are noticed. A directory
that others made need not have the file; then only the names of its labels are checked, where they are read.
"""

import logging
import os
from pathlib import Path

from punc.base.errors import InputError
from punc.data.labels import LabelSet

logger = logging.getLogger(__name__)
RECORD = "punct.labels"


def check_record(path: str | os.PathLike, labels: LabelSet, remedy: str = "prepare it again") -> None:
    """Compare the label set of the data directory `path`, if it has one, with `labels`.

    Raises InputError if a label of the directory is missing there or written in another way. Says so if it has fewer
    labels, or read them from other marks: that is meant where a corpus has no more.
    """
    record = Path(path) / RECORD
    if not record.is_file():
        return
    known = {label.name: label for label in labels}
    own = LabelSet.read(record)
    for label in own:
        if label.name not in known:
            raise InputError(f"label '{label.name}' is not in the label set, which has {' '.join(labels.names)}",
                             f"{remedy}, or give the label set that it was made with", record)
        if label.written != known[label.name].written:
            raise InputError(f"label '{label.name}' is written {label.written} here, in the label set "
                             f"{known[label.name].written}", f"{remedy}, or give the label set that it was made with",
                             record)
    if own != labels:
        logger.warning("%s: made with another label set: %s; %s if that is not meant", record,
                       difference(own, labels), remedy)


def note_record(path: str | os.PathLike, labels: LabelSet) -> None:
    """Say if the data directory `path` has another label set than the model that labels it anew."""
    record = Path(path) / RECORD
    if record.is_file() and (own := LabelSet.read(record)) != labels:
        logger.warning("%s: the model has another label set: %s", record, difference(labels, own))


def difference(one: LabelSet, other: LabelSet) -> str:
    """What the second label set has that the first has not, in some words: labels, or else marks."""
    if more := [name for name in other.names if name not in one.names]:
        return f"it lacks {' '.join(more)}"
    if less := [name for name in one.names if name not in other.names]:
        return f"it also has {' '.join(less)}"
    changed = [label.name for label in other if label != one[one.index(label.name)]]
    return f"other marks are {' '.join(changed)}" if changed else "the labels have another order"
