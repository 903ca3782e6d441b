"""Pictures of labels: how frequent each mark is in some sets, and how many words are between two marks.

They need no pauses, so they fit texts without times, too.
"""

import os
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.data.datadir import DataDir
from punc.data.labels import LabelSet
from punc.results.plots import COLOURS, new_figure, save

LONGEST = 60  # words between two marks; what is longer is at the right end


class LabelCounts(NamedTuple):
    """The labels of a set.

    slots     slots by label, in the order of the label set
    lengths   int64 (LONGEST + 1,): how often there are so many words from one mark to the next
    """

    slots: dict[str, int]
    lengths: np.ndarray

    def share(self, label: str) -> float:
        """The slots with a label, in percent."""
        return 100 * self.slots[label] / max(sum(self.slots.values()), 1)


def count_labels(data: DataDir, labels: LabelSet) -> LabelCounts:
    """Count a directory's labels, in constant memory.

    Raises InputError if it has no labels, or one that is not in the label set.
    """
    if not data.has_labels:
        raise InputError("no such file", "a plot needs labels: punc prepare", data.path / "punct")
    slots, lengths = Counter[str](), np.zeros(LONGEST + 1, np.int64)
    for _, utterances in data.streams():
        found = np.array([name for utterance in utterances for name in utterance.labels or ()])
        slots.update(dict(zip(*(part.tolist() for part in np.unique(found, return_counts=True)))))
        marks = np.flatnonzero(found != labels.names[0])
        lengths += np.bincount(np.minimum(np.diff(marks, prepend=-1), LONGEST), minlength=LONGEST + 1)
    if unknown := slots.keys() - set(labels.names):
        raise InputError(f"label '{min(unknown)}', which is not in the label set",
                         "give --labels the one it was made with", data.path / "punct")
    return LabelCounts({name: slots[name] for name in labels.names}, lengths)


def describe(name: str, counts: LabelCounts) -> str:
    """One line about a set: its slots, the share of each mark, and the median of the words between two marks."""
    marks = ", ".join(f"{label} {counts.share(label):.1f} %" for label in list(counts.slots)[1:])
    half = np.cumsum(counts.lengths)
    median = f", a mark after {int(np.searchsorted(half, half[-1] / 2))} words (median)" if half[-1] else ""
    return f"{name}: {sum(counts.slots.values()):,} slots, {marks or 'no labels'}{median}"


def plot_labels(sets: Mapping[str, LabelCounts], path: str | os.PathLike[str], title: str = "") -> None:
    """Draw the share of each mark, and the words from one mark to the next, of each set, into a PNG file."""
    figure = new_figure()
    figure.suptitle(title)
    bars, lengths = figure.subplots(1, 2)
    width = 0.8 / max(len(sets), 1)
    for number, ((name, counts), colour) in enumerate(zip(sets.items(), COLOURS * len(sets))):
        labels = list(counts.slots)[1:]
        bars.bar(np.arange(len(labels)) + (number - (len(sets) - 1) / 2) * width, [counts.share(one) for one in labels],
                 width, color=colour, label=name)
        bars.set_xticks(range(len(labels)), labels, rotation=30 if len(labels) > 4 else 0)
        shares = 100 * counts.lengths / max(counts.lengths.sum(), 1)
        lengths.stairs(shares[1:], np.arange(1, LONGEST + 2), color=colour, linewidth=1.5, label=name)
    bars.set_ylabel("share of the slots [%]")
    lengths.set_xlabel(f"words from one mark to the next ({LONGEST}: or more)")
    lengths.set_ylabel("share of the marks [%]")
    for axes in (bars, lengths):
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")
    save(figure, path)
