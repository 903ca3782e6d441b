"""Labels scored together as one class: `NAME:CLASS=LABEL+LABEL,CLASS=…`."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.data.labels import LabelSet

TAKEN = ("overall", "macro", "sentence", "capital")  # rows of other metrics


class Collapse(NamedTuple):
    """Labels taken together.

    name      the score's name
    classes   the classes' names, the empty class first
    number    (labels,): the class of each label
    """

    name: str
    classes: tuple[str, ...]
    number: np.ndarray


def parse_collapse(text: str, labels: LabelSet) -> Collapse:
    """Parse `NAME:CLASS=LABEL+LABEL,CLASS=…`; labels that are not named stay as they are.

    A class that holds the empty label is the empty class. `NAME` alone takes all marks as one class, PUNCTUATED:
    the 2 classes of Che et al. 2016. `3-class:FULLSTOP=PERIOD+QUESTION` is their 3 classes (section 3.3).
    Raises InputError for a label that is not in the set or that is named twice.
    """
    name, colon, groups = text.partition(":")
    pairs = [("PUNCTUATED", label) for label in labels.names[1:]]
    if colon:
        pairs = []
        for group in groups.split(","):
            class_name, _, members = group.partition("=")
            pairs += [(class_name, label) for label in members.split("+")]
    class_of = {label: class_name for class_name, label in pairs}
    unknown = [label for label in class_of if label not in labels.names]
    wrong = ""
    if unknown:
        wrong = f"'{unknown[0]}' is no label of the set"
    elif len(class_of) < len(pairs):
        wrong = "a label stands twice"
    elif "" in class_of.values():
        wrong = "a class has no name"
    elif name in {"", *TAKEN, *labels.names}:
        wrong = f"'{name}' cannot name it"
    if wrong:
        raise InputError(f"collapse '{text}': {wrong}", "write NAME:CLASS=LABEL+LABEL,… with labels of the set")
    names = [class_of.get(label, label) for label in labels.names]
    classes = tuple(dict.fromkeys(names))
    return Collapse(name, classes, np.array([classes.index(one) for one in names]))


def merge_counts(counts: np.ndarray, number: np.ndarray, classes: int) -> np.ndarray:
    """Confusion counts (…, labels, labels) as those of classes, (…, classes, classes).

    number   (labels,): the class of each label
    """
    member = np.zeros((len(number), classes), counts.dtype)
    member[np.arange(len(number)), number] = 1
    return member.T @ counts @ member


def merged_labels(labels: LabelSet, classes: str) -> tuple[LabelSet, np.ndarray]:
    """Classes of labels as a label set, and the class of each label, (labels,).

    classes   `CLASS=LABEL+LABEL,…`, as in a collapse; a class is written as its first label

    Raises InputError as `parse_collapse` does.
    """
    collapse = parse_collapse(f"merge:{classes}", labels)
    firsts = [labels[int(np.flatnonzero(collapse.number == i)[0])] for i in range(len(collapse.classes))]
    merged = tuple(replace(label, name=name) for label, name in zip(firsts, collapse.classes))
    return LabelSet(merged), collapse.number
