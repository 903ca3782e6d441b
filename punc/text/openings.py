"""Makes the labels of Spanish questions agree: a question that begins with ¿ ends with a question mark."""

import numpy as np

from punc.data.labels import LabelSet

CLOSING = {"¿": "?", "¡": "!"}


def pair_openings(labels: np.ndarray, label_set: LabelSet, begins: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Return labels (W,) that are changed so that a sentence with an opening mark ends with the closing one, and so
    that a word with an opening mark has a capital only if it begins a sentence: `hola, ¿qué tal?`

    begins  bool (W,): whether a word begins a stream or a turn
    kept    bool (W,): whether a word keeps the marks of the text, and therefore its label
    """
    ends = {label_set.index(name) for name in label_set.sentence_ends}
    found, opened, start = labels.copy(), "", True
    for i, (number, first, keep) in enumerate(zip(labels.tolist(), begins.tolist(), kept.tolist())):
        label, start = label_set[number], start or first
        opened = label.opening or ("" if first else opened)
        marks = label.marks if label.mark else ()
        if number in ends and CLOSING.get(opened) in label_set.marks and CLOSING[opened] not in marks:
            marks = (CLOSING[opened],)
        if not keep and (label.opening or number in ends):
            new = [label_set.index(label_set.reading(marks, capital, label.opening))
                   for capital in (label.capital and (start or not label.opening), label.capital)]
            found[i] = new[label_set[new[0]].opening != label.opening]  # a set may have ¿W?, but not ¿w?
        start = number in ends
        opened = "" if start else opened
    return found
