"""Where recognised words differ from the words that were spoken, slot by slot."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from punc.timing.align import align_words


@dataclass
class Recognition:
    """Recognised words against spoken words.

    wrong      bool (words,): substituted or inserted
    spoken     for each substituted word, by its number, the word that was spoken
    missing    the spoken words that the recogniser left out, by the number of the word before them in the stream; those
               before a stream's first word stand at that word
    distance   int64 (words,): words between the slot after a word and the nearest error in its stream, 0 where a word
               next to the slot is wrong or one is missing there; -1 if the stream has no error
    wer        word error rate, in percent; NaN without spoken words
    """

    wrong: np.ndarray
    spoken: dict[int, str] = field(default_factory=dict)
    missing: dict[int, str] = field(default_factory=dict)
    distance: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    wer: float = float("nan")


def recognise(spoken: Sequence[Sequence[str]], words: Sequence[str], begins: np.ndarray) -> Recognition:
    """Align the spoken words of each stream with its recognised words, by minimum edit distance.

    begins   int64 (streams + 1,): stream i has words[begins[i]:begins[i + 1]]
    """
    found = Recognition(np.zeros(len(words), bool))
    distances, errors = [], 0
    for said, begin, end in zip(spoken, begins[:-1].tolist(), begins[1:].tolist()):
        alignment = align_words(said, words[begin:end])
        errors += alignment.distance
        at_error = _stream(found, said, words[begin:end], alignment.ref_to_hyp, begin)
        distances.append(nearest(at_error))
    found.distance = np.concatenate(distances) if distances else np.zeros(0, np.int64)
    total = sum(map(len, spoken))
    found.wer = 100 * errors / total if total else float("nan")
    return found


def _stream(found: Recognition, said: Sequence[str], words: Sequence[str], pairs: np.ndarray, begin: int) -> np.ndarray:
    """Add a stream's errors to `found`. Returns, bool (words,), the slots that are next to an error."""
    wrong, missing = np.ones(len(words), bool), np.zeros(len(words), bool)
    before = -1
    for word, at in zip(said, pairs.tolist()):
        if at >= 0:
            before = at
            wrong[at] = words[at] != word
            if wrong[at]:
                found.spoken[begin + at] = word
        elif len(words):
            slot = max(before, 0)
            missing[slot] = True
            left_out = found.missing.get(begin + slot)
            found.missing[begin + slot] = f"{left_out} {word}" if left_out else word
    found.wrong[begin:begin + len(words)] = wrong
    return wrong | missing | np.append(wrong[1:], False)


def nearest(marked: np.ndarray) -> np.ndarray:
    """The distance of each position of a bool array to the nearest True, int64; -1 if there is none."""
    places = np.flatnonzero(marked)
    if not len(places):
        return np.full(len(marked), -1, np.int64)
    here = np.arange(len(marked))
    right = np.searchsorted(places, here)
    after = np.abs(places[np.minimum(right, len(places) - 1)] - here)
    return np.minimum(after, np.abs(places[np.maximum(right - 1, 0)] - here))
