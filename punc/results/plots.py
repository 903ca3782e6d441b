"""Pictures of data directories: how long pauses are, what a system makes of them, and how frequent marks are.

The axis of pauses is logarithmic. Pauses under 10 ms, the shortest frame of an ASR system, are at its left end as "0".
Pictures of labels need no pauses, so they fit texts without times, too.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.data.datadir import DataDir, label_numbers
from punc.data.kaldi_io import read_posteriors
from punc.data.labels import LabelSet
from punc.results.figures import COLOURS, new_figure, plain, save

SHORTEST, LONGEST = 0.01, 100.0  # s, the ends of the axis
ZERO = 0.006  # where "0" is drawn
EDGES = np.concatenate([[0.005, 0.0072], np.geomspace(SHORTEST, LONGEST, 33)])  # bins: "0", a gap, eight a decade
PICTURE = 8.0, 4.5  # inches
MOST_WORDS = 60  # between two marks; what is longer is at the right end


def axis_positions(pauses: np.ndarray) -> np.ndarray:
    """Where known pauses are on the axis: pauses under 10 ms at "0", pauses beyond the axis at its end."""
    return np.where(pauses < SHORTEST, ZERO, np.clip(pauses, SHORTEST, LONGEST * 0.999, dtype=np.float64))


def shares(pauses: np.ndarray) -> np.ndarray:
    """The share of known pauses, in percent, in each bin of EDGES."""
    known = pauses[np.isfinite(pauses)]
    return 100 * np.histogram(axis_positions(known), EDGES)[0] / max(len(known), 1)


def describe_pauses(name: str, pauses: np.ndarray) -> str:
    """One line about a label's slots: their number, median, and shares without a pause and without a known one."""
    known = pauses[np.isfinite(pauses)]
    if not len(known):
        return f"{name}: {len(pauses):,} slots, no pause known"
    zero, unknown = np.mean(known < SHORTEST), 1 - len(known) / len(pauses)
    return (f"{name}: {len(pauses):,} slots, median {np.median(known):.2f} s, {zero:.0%} without a pause"
            + (f", {unknown:.0%} unknown" if unknown else ""))


def plot_pauses(by_label: Mapping[str, np.ndarray], path: str | os.PathLike, title: str = "") -> None:
    """Draw the distribution of the pauses of each label, in the order of the mapping, into a PNG file."""
    figure, axes = _axes(title)
    for (name, pauses), colour in zip(by_label.items(), COLOURS * len(by_label)):
        axes.stairs(shares(pauses), EDGES, color=colour, linewidth=1.5, label=plain(describe_pauses(name, pauses)))
        axes.stairs(shares(pauses), EDGES, color=colour, fill=True, alpha=0.15)
    axes.set_ylabel("share of the label's slots [%]")
    axes.set_yscale("symlog", linthresh=1)
    axes.set_ylim(0, 100)
    axes.set_yticks([0, 0.5, 1, 2, 5, 10, 20, 50, 100], ["0", "0.5", "1", "2", "5", "10", "20", "50", "100"])
    axes.legend(loc="upper right", fontsize="small")
    save(figure, path)


def posteriors(data: DataDir, decode: str | os.PathLike, label: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each slot of a data directory: its pause, a system's posterior of `label`, and whether it has that label.

    decode   the output of `punc punctuate` for the directory, with posteriors

    Raises InputError if `decode` has no posteriors, or posteriors of other slots, or if there is no such label.
    """
    archive = Path(decode) / "post.ark"
    if not archive.is_file():
        raise InputError("no such file", "punctuate with --posteriors true", archive)
    labels = LabelSet.read(Path(os.path.abspath(decode)).parent / "labels.txt")
    if label not in labels.names:
        raise InputError(f"no label '{label}'", f"there are {' '.join(labels.names)}", decode)
    column, of = labels.index(label), {}
    for id, matrix in read_posteriors(archive):
        if matrix.ndim != 2 or matrix.shape[1] != len(labels.names):
            raise InputError(f"'{id}' is no matrix of {len(labels.names)} columns, one for each label",
                             "punctuate with --posteriors true", archive)
        of[id] = matrix[:, column]
    found = []
    for utterance in data.utterances():
        if len(of.get(utterance.id, ())) != len(utterance.words):
            raise InputError(f"not the slots of '{utterance.id}' in {data.path}", "punctuate that directory", archive)
        found.append((utterance.pauses, of[utterance.id], np.array(utterance.labels) == label))
    pauses, probabilities, right = map(np.concatenate, zip(*found))
    return pauses, probabilities, right


def plot_posteriors(pauses: np.ndarray, probabilities: np.ndarray, right: np.ndarray, path: str | os.PathLike,
                    label: str, thresholds: Iterable[float] = (), title: str = "") -> None:
    """Draw P(label) against the pause: one dot per slot, the mean over slots, and thresholds of a decision tree."""
    figure, axes = _axes(title)
    known = np.isfinite(pauses)
    at, scatter = axis_positions(pauses[known]), np.random.default_rng(1).uniform(-0.06, 0.06, int(known.sum()))
    probabilities, right = probabilities[known], right[known]
    for is_label, colour in ((False, COLOURS[0]), (True, COLOURS[2])):
        chosen, text = right == is_label, f"slot {'with' if is_label else 'without'} {label}"
        axes.scatter((at * np.exp(scatter))[chosen], probabilities[chosen], s=5, alpha=0.4, color=colour,
                     label=plain(text), linewidths=0)
    middles, means = binned_mean(at, probabilities)
    axes.plot(middles, means, color="black", linewidth=2, marker="o", markersize=3, label="mean of the slots")
    for i, threshold in enumerate(sorted(thresholds)):
        axes.axvline(threshold, color=COLOURS[1], linestyle="--", linewidth=0.8,
                     label="the decision tree's thresholds" if i == 0 else None)
    axes.set_ylabel(plain(f"P({label})"))
    axes.set_ylim(-0.02, 1.02)
    axes.legend(loc="center right", fontsize="small")
    save(figure, path)


def binned_mean(at: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each bin of EDGES that has a slot: its middle on the logarithmic axis, and the mean of its values."""
    bins = np.digitize(at, EDGES) - 1
    count = np.bincount(bins, minlength=len(EDGES) - 1)
    mean = np.bincount(bins, values, minlength=len(EDGES) - 1) / np.maximum(count, 1)
    return np.sqrt(EDGES[:-1] * EDGES[1:])[count > 0], mean[count > 0]


def _axes(title: str) -> tuple[Any, Any]:
    """A figure and its axes, with pauses along the bottom."""
    figure, (axes,) = new_figure([title], *PICTURE)
    axes.set_xscale("log")
    axes.set_xlim(EDGES[0], LONGEST)
    ticks = {ZERO: "0", 0.01: "10 ms", 0.1: "0.1 s", 1: "1 s", 10: "10 s", 100: "100 s"}
    axes.set_xticks(list(ticks), list(ticks.values()))
    axes.minorticks_off()
    axes.set_xlabel("pause in the slot")
    return figure, axes


class LabelCounts(NamedTuple):
    """The labels of a set.

    slots     slots by label, in the order of the label set
    lengths   int64 (MOST_WORDS + 1,): how often there are so many words from one mark to the next
    """

    slots: dict[str, int]
    lengths: np.ndarray

    def share(self, label: str) -> float:
        """The slots with a label, in percent."""
        return 100 * self.slots[label] / max(sum(self.slots.values()), 1)


def count_labels(data: DataDir, labels: LabelSet) -> LabelCounts:
    """Count a directory's labels, in constant memory. Raises InputError for one that is not in the label set."""
    slots, lengths = np.zeros(len(labels), np.int64), np.zeros(MOST_WORDS + 1, np.int64)
    for _, utterances in data.streams():
        found = label_numbers(utterances, labels, data.path)
        slots += np.bincount(found, minlength=len(labels))
        lengths += np.bincount(np.minimum(np.diff(np.flatnonzero(found), prepend=-1), MOST_WORDS),
                               minlength=MOST_WORDS + 1)
    return LabelCounts(dict(zip(labels.names, slots.tolist())), lengths)


def describe_labels(name: str, counts: LabelCounts) -> str:
    """One line about a set: its slots, the share of each mark, and the median of the words between two marks."""
    marks = ", ".join(f"{label} {counts.share(label):.1f} %" for label in list(counts.slots)[1:])
    half = np.cumsum(counts.lengths)
    median = f", a mark after {int(np.searchsorted(half, half[-1] / 2))} words (median)" if half[-1] else ""
    return f"{name}: {sum(counts.slots.values()):,} slots, {marks or 'no labels'}{median}"


def plot_labels(sets: Mapping[str, LabelCounts], path: str | os.PathLike[str]) -> None:
    """Draw the share of each mark, and the words from one mark to the next, of each set, into a PNG file."""
    figure, (bars, lengths) = new_figure(["", ""], *PICTURE)
    width = 0.8 / max(len(sets), 1)
    for number, ((name, counts), colour) in enumerate(zip(sets.items(), COLOURS * len(sets))):
        labels = list(counts.slots)[1:]
        bars.bar(np.arange(len(labels)) + (number - (len(sets) - 1) / 2) * width, [counts.share(one) for one in labels],
                 width, color=colour, label=plain(name))
        bars.set_xticks(range(len(labels)), map(plain, labels), rotation=30 if len(labels) > 4 else 0)
        shares = 100 * counts.lengths / max(counts.lengths.sum(), 1)
        lengths.stairs(shares[1:], np.arange(1, MOST_WORDS + 2), color=colour, linewidth=1.5, label=plain(name))
    bars.set_ylabel("share of the slots [%]")
    lengths.set_xlabel(f"words from one mark to the next ({MOST_WORDS}: or more)")
    lengths.set_ylabel("share of the marks [%]")
    for axes in (bars, lengths):
        axes.legend(fontsize="small")
    save(figure, path)
