"""How alike words sound, as far as their spelling tells, learned from the confusions themselves.

A noisy channel (Kernighan, Church & Gale 1990, "A Spelling Correction Program Based on a Noisy Channel Model"): a word
w is heard as the word v with a probability in proportion to P(v) P(w → v). P(v) is how frequent v is in the ASR output.
P(w → v) is the product of the probabilities of the edits of characters that make v of w, with the fewest edits: each
character is kept, replaced, or deleted, and others are inserted. These probabilities are counted on the pairs of words
that the recogniser has confused, each pair once, if at least half of the characters agree. No language is known here:
in a script that does not write sounds, what looks alike counts as alike.
"""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from punc.noise.confusions import Confusions

MOST = 16  # neighbours of a word
ALIKE = 0.5  # the largest distance of words, in edits a character, from which edits are counted
BLOCK = 256  # words that are compared with all others at once
UNSEEN = 0.1  # added to the count of each edit


class Sounds:
    """Words that are heard for others; `words` are those of the ASR output, in C order."""

    def __init__(self, confusions: Confusions):
        self.words = sorted(confusions.heard, key=str.encode)
        self._frequency = np.array([confusions.heard[word] for word in self.words], np.float64)
        self._lengths = np.array([len(word) for word in self.words])
        edits: Counter[tuple[str, str]] = Counter()
        for (word, output), _ in sorted(confusions.replaced.items()):
            if len(output) == 1 and Levenshtein.normalized_distance(word, output[0]) <= ALIKE:
                edits.update(_edits(word, output[0]))
                edits.update(zip(word, word))  # those that were not kept are taken off again
        self._log_probs = _log_probabilities(edits)

    def neighbours(self, words: Sequence[str]) -> list[tuple[np.ndarray, np.ndarray]]:
        """For each word, the indices of the words that it is heard as, and their probabilities; none may be alike."""
        found: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        lengths = np.array([len(word) for word in words], np.int64)
        for length in np.unique(lengths).tolist():
            limit = max(1, length // 3)
            choices = np.flatnonzero(np.abs(self._lengths - length) <= limit)
            others, group = [self.words[i] for i in choices.tolist()], np.flatnonzero(lengths == length)
            for block in np.split(group, range(BLOCK, len(group), BLOCK)):
                distances = process.cdist([words[i] for i in block], others, scorer=Levenshtein.distance,
                                          score_cutoff=limit, dtype=np.uint8)
                for i, row in zip(block.tolist(), distances):
                    found[i] = self._heard_as(words[i], choices[(row > 0) & (row <= limit)])
        return [found[i] for i in range(len(words))]

    def _heard_as(self, word: str, near: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The most probable words of those near a word, and their probabilities."""
        log_probs = []  # relative to that of keeping all characters
        for other in near:
            edits = _edits(word, self.words[other])
            log_probs.append(sum(count * self._log_probs.get(edit, self._log_probs["", ""])
                                 for edit, count in edits.items()))
        weights = self._frequency[near] * np.exp(log_probs)
        best = np.argsort(-weights, kind="stable")[:MOST]
        return near[best], weights[best] / max(weights[best].sum(), 1e-300)

def _edits(word: str, other: str) -> Counter[tuple[str, str]]:
    """The edits of characters that make one word of another, and −1 for each character that is not kept."""
    found: Counter[tuple[str, str]] = Counter()
    for edit in Levenshtein.editops(word, other):
        before = "" if edit.tag == "insert" else word[edit.src_pos]
        found[before, "" if edit.tag == "delete" else other[edit.dest_pos]] += 1
        if before:
            found[before, before] -= 1
    return found


def _log_probabilities(edits: Counter[tuple[str, str]]) -> dict[tuple[str, str], float]:
    """The logarithm of the probability of each edit; that of ("", "") is for edits that were never seen."""
    kinds = len({after for _, after in edits}) + 1
    totals: Counter[str] = Counter()
    for (before, _), count in edits.items():
        totals[before] += count
    totals[""] = sum(totals.values())  # an insertion can be at each character
    found = {edit: math.log((count + UNSEEN) / (totals[edit[0]] + UNSEEN * kinds)) for edit, count in edits.items()}
    found["", ""] = math.log(UNSEEN / (max(totals.values()) / max(len(totals), 1) + UNSEEN * kinds))
    return found
