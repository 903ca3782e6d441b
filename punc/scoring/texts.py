"""Scores of a punctuated text against another: what `punc.score` computes."""

from collections import Counter

import numpy as np

from punc.base.errors import InputError
from punc.data.labels import Label, LabelSet
from punc.scoring.counts import confusion
from punc.scoring.metrics import compute_metrics
from punc.text.passages import Memo
from punc.text.prose_reader import TextReader
from punc.timing.align import align_words, project_labels

# The marks of the English recipes: of several in a slot, the last one here counts.
ENGLISH = LabelSet((Label("O", "w"), Label("COMMA", "w,", (",", ":", "-", "–", "—")),
                    Label("PERIOD", "w.", (".", ";", "!", "…")), Label("QUESTION", "w?", ("?",))))


def read_slots(text: str, labels: LabelSet) -> tuple[list[str], np.ndarray]:
    """The words of a text in lower case, and the number of the label after each, int64 (N,).

    Raises InputError for a text without words.
    """
    reader = TextReader(labels)
    passage = Memo(lambda token: (reader.token(token), "")).read(text.split(), reader.attach, Counter())
    if not passage.words:
        raise InputError("a text without words", "give a text with words to score")
    return passage.words.split(" "), np.array([labels.index(name) for name in passage.labels.split(" ")])


def score_texts(reference: str, hypothesis: str, labels: LabelSet = ENGLISH) -> dict[str, float]:
    """All metrics of the marks of `hypothesis` against those of `reference`, by name, in percent; NaN is undefined.

    labels   which marks are read as which label

    Words are compared without case and marks. If they differ, the reference's marks are first projected onto the
    hypothesis' words by edit distance (Tilk & Alumäe 2015, section 3). Raises InputError for a text without words.
    """
    (ref_words, ref_slots), (hyp_words, hyp_slots) = read_slots(reference, labels), read_slots(hypothesis, labels)
    if ref_words != hyp_words:
        ref_slots = project_labels(align_words(ref_words, hyp_words), ref_slots)
    counts = confusion(ref_slots, hyp_slots, np.zeros(len(hyp_slots), np.int64), 1, len(labels))[0]
    return {name: float(value) for name, value in compute_metrics(counts, labels).items()}
