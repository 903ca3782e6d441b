"""Histograms of posteriors for precision-recall curves. Each label has two histograms of its posteriors: one for slots
with the label in the reference, and one for all other slots.

A histogram divides the log-odds from -LIMIT to LIMIT into BINS bins of equal width. Its size thus does not depend on
the data. The area under a curve is accurate to four digits.
"""

import logging
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from punc.base.errors import InputError, StrPath
from punc.data.datadir import Utterance
from punc.data.kaldi_io import read_posteriors
from punc.data.labels import LabelSet

logger = logging.getLogger(__name__)

BINS, LIMIT = 1 << 16, 20.0


class Posteriors:
    """Histograms of the posteriors of a punctuated data directory, filled stream by stream."""

    def __init__(self, archive: Path, labels: LabelSet):
        self.archive, self.labels = archive, labels
        # histograms[label, 1]: slots with the label, by the label's posterior. histograms[label, 0]: all other slots.
        self.histograms = np.zeros((len(labels), 2, BINS), np.int64)
        self._rows: Iterator[tuple[str, np.ndarray]] = read_posteriors(archive)

    @classmethod
    def of(cls, directory: StrPath, labels: LabelSet) -> "Posteriors | None":
        """Open `directory`/post.ark. Returns None if the file is missing, empty, or made for other labels."""
        archive = Path(directory) / "post.ark"
        system = Path(os.path.abspath(directory)).parent / "labels.txt"
        if not archive.is_file():
            return None
        first = next((matrix for _, matrix in read_posteriors(archive) if matrix.size), None)
        same = not system.is_file() or LabelSet.read(system).names == labels.names
        if not same or first is None or first.ndim != 2 or first.shape[1] != len(labels):
            logger.info("punc score: %s has posteriors for other labels, so there are no areas under curves", archive)
            return None
        return cls(archive, labels)

    def add(self, utterances: Sequence[Utterance], reference: np.ndarray, counted: np.ndarray) -> None:
        """Add utterances to the histograms, given the number of each slot's reference label and whether the slot
        is scored. Raises InputError if posteriors are missing."""
        found = np.concatenate([self._read(utterance) for utterance in utterances])[counted]
        for label in range(len(self.labels)):
            right = reference[counted] == label
            cells = right * BINS + bins_of(found[:, label])
            self.histograms[label] += np.bincount(cells, minlength=2 * BINS).reshape(2, BINS)

    def _read(self, utterance: Utterance) -> np.ndarray:
        for id, matrix in self._rows:
            if id == utterance.id:
                if matrix.size != len(utterance.words) * len(self.labels):  # no words: 0 × 0
                    break
                return matrix.reshape(len(utterance.words), len(self.labels))
        raise InputError(f"no posteriors for the {len(utterance.words)} slots of '{utterance.id}'",
                         "punctuate again, or remove the file", self.archive)


def bins_of(probabilities: np.ndarray) -> np.ndarray:
    """Return the bin of each probability, int64; higher probabilities are in bins with higher numbers."""
    exact = np.clip(probabilities.astype(np.float64), 0, 1)
    with np.errstate(divide="ignore"):
        odds = np.log(exact) - np.log1p(-exact)
    return np.minimum((np.clip(odds, -LIMIT, LIMIT) + LIMIT) * (BINS / (2 * LIMIT)), BINS - 1).astype(np.int64)
