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
    pairs = [(group.partition("=")[0], label) for group in groups.split(",")
             for label in group.partition("=")[2].split("+")] if colon else [
             ("PUNCTUATED", label) for label in labels.names[1:]]
    class_of = {label: group for group, label in pairs}
    wrong = next((f"'{label}' is no label of the set" for label in class_of if label not in labels.names),
                 "a label stands twice" if len(class_of) < len(pairs) else
                 "a class has no name" if "" in class_of.values() else
                 f"'{name}' cannot name it" if name in {"", *TAKEN, *labels.names} else None)
    if wrong:
        raise InputError(f"collapse '{text}': {wrong}", "write NAME:CLASS=LABEL+LABEL,… with labels of the set")
    classes = tuple(dict.fromkeys(class_of.get(label, label) for label in labels.names))
    return Collapse(name, classes, np.array([classes.index(class_of.get(label, label)) for label in labels.names]))


def merge(counts: np.ndarray, labels: LabelSet, classes: str) -> tuple[np.ndarray, LabelSet]:
    """Confusion counts (…, L, L) of classes of labels, and the classes as a label set.

    classes   `CLASS=LABEL+LABEL,…`, as in a collapse; a class is written as its first label

    Raises InputError as `parse_collapse` does.
    """
    collapse = parse_collapse(f"merge:{classes}", labels)
    member = np.zeros((len(labels), len(collapse.classes)), np.int64)
    member[np.arange(len(labels)), collapse.number] = 1
    firsts = [labels[int(np.flatnonzero(collapse.number == i)[0])] for i in range(len(collapse.classes))]
    merged = tuple(replace(label, name=name) for label, name in zip(firsts, collapse.classes))
    return member.T @ counts @ member, LabelSet(merged)
